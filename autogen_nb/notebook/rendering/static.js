// Hides this output, the last state of a widget, while the live widget above it works.
(() => {
  const child = document.currentScript.closest(".jp-OutputArea-child"), area = child?.parentElement;
  if (!area) return;
  const show = (_, observer) => {
    // JupyterLab may replace the output above.
    const live = child.previousElementSibling;
    if (!child.isConnected) return observer?.disconnect();
    if (!live) return;
    const works = live.querySelector(".jupyter-widgets") && !live.textContent.startsWith("Error displaying widget");
    child.style.display = works ? "none" : "";
    live.style.display = works ? "" : "none";
  };
  new MutationObserver(show).observe(area, { childList: true, subtree: true, characterData: true });
  show();
})();
