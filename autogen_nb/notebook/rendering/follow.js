// Scrolls once to the panel below this output, unless the person is typing.
// Replaces a saved panel, whose kernel has ended, with a line.
(() => {
  const script = document.currentScript, area = script.closest(".jp-OutputArea");
  const followed = (window.autogenNbFollowed ??= new Set());
  if (!area || followed.has(script.dataset.question)) return;
  followed.add(script.dataset.question);
  const follow = (tries) => {
    const panel = area.querySelector(".autogen-nb-panel");
    const lost = [...area.querySelectorAll(".jp-OutputArea-output")].find(
      (output) => output.textContent.trim() === "Error displaying widget: model not found");
    const isTyping = document.activeElement?.matches("input, textarea, [contenteditable=true]");
    if (panel && !isTyping) {
      panel.style.scrollMargin = "16px";
      panel.scrollIntoView({ block: "nearest" });
    } else if (lost) {
      lost.textContent = "The chat asked here, and its kernel has ended since. Run this cell again to go on.";
    } else if (!panel && tries) {
      setTimeout(follow, 100, tries - 1);
    }
  };
  follow(100);
})();
