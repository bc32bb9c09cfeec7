// Removes a status line that remains after its cell has ended, because the kernel was restarted.
(() => {
  const script = document.currentScript, output = script.closest(".jp-OutputArea-child");
  const prompt = output?.closest(".jp-Cell")?.querySelector(".jp-InputPrompt");
  const runs = () => prompt?.textContent.includes("*");
  if (!runs()) return;
  new MutationObserver((_, observer) => {
    if (runs()) return;
    observer.disconnect();
    if (script.isConnected) output.style.display = "none";
  }).observe(prompt, { childList: true, subtree: true, characterData: true });
})();
