// Hides the last state of a widget, which is this output, while the live widget above it works.
(() => {
  const child = document.currentScript.closest(".jp-OutputArea-child"), live = child?.previousElementSibling;
  if (!live) return;
  const show = () => {
    const works = live.querySelector(".jupyter-widgets > *, .widget-box > *") && !live.textContent.startsWith("Error displaying widget");
    child.style.display = works ? "none" : "";
    live.style.display = works ? "" : "none";
  };
  new MutationObserver(show).observe(live, { childList: true, subtree: true, characterData: true });
  show();
})();
