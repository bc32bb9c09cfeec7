// Scrolls once to the panel below this output, unless the person is typing.
// Replaces a panel whose kernel has ended, in a saved notebook or after a restart, with a line.
(() => {
  const script = document.currentScript, area = script.closest(".jp-OutputArea");
  const followed = (window.autogenNbFollowed ??= new Set());
  if (!area || followed.has(script.dataset.question)) return;
  followed.add(script.dataset.question);
  const text = "The kernel of this question has ended. %autogen resume in a new cell continues the chat.";
  const end = (output) => {
    let changes = 10;
    const show = (_, observer) => {
      if (output.textContent !== text) output.textContent = text;
      if (!changes--) observer?.disconnect();
    };
    show();
    // JupyterLab tries to load the widget again, which replaces the line.
    new MutationObserver(show).observe(output, { childList: true, subtree: true });
  };
  const prompt = area.closest(".jp-Cell")?.querySelector(".jp-InputPrompt");
  const endWithKernel = (output) => new MutationObserver((_, observer) => {
    if (prompt.textContent.includes("*")) return;
    observer.disconnect();
    if (output.isConnected) end(output);
  }).observe(prompt, { childList: true, subtree: true, characterData: true });
  const follow = (tries) => {
    const panel = area.querySelector(".autogen-nb-panel");
    const lost = [...area.querySelectorAll(".jp-OutputArea-output")].find(
      (output) => output.textContent.trim() === "Error displaying widget: model not found");
    const isTyping = document.activeElement?.matches("input, textarea, [contenteditable=true]");
    if (panel && prompt?.textContent.includes("*")) endWithKernel(panel.closest(".jp-OutputArea-output"));
    if (panel && !isTyping) {
      panel.style.scrollMargin = "16px";
      panel.scrollIntoView({ block: "nearest" });
    } else if (lost) {
      end(lost);
    } else if (!panel && tries) {
      setTimeout(follow, 100, tries - 1);
    }
  };
  follow(100);
})();
