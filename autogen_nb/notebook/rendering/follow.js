// Scrolls once to the panel below this output, unless the person is typing.
(() => {
  const script = document.currentScript, area = script.closest(".jp-OutputArea");
  const followed = (window.autogenNbFollowed ??= new Set());
  if (!area || followed.has(script.dataset.question)) return;
  followed.add(script.dataset.question);
  const follow = (tries) => {
    const panel = area.querySelector(".autogen-nb-panel");
    if (!panel && tries) setTimeout(follow, 100, tries - 1);
    const isTyping = document.activeElement?.matches("input, textarea, [contenteditable=true]");
    if (!panel || isTyping) return;
    panel.style.scrollMargin = "16px";
    panel.scrollIntoView({ block: "nearest" });
  };
  follow(30);
})();
