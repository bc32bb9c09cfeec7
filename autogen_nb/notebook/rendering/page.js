// Runs in the notebook's page: gives each frame its libraries and theme, and the height of its content.
// Uses only a number and library names from a frame's messages, because the frame may contain any script.
(() => {
  if (window.autogenNbFrames) return;
  const MOST_PIXELS = 4000;
  const libraries = {};
  const waiting = new Map();
  let timer = 0;
  const frames = () => [...document.querySelectorAll("iframe[data-autogen-nb]")];
  const theme = () => {
    const { jpThemeLight } = document.body.dataset;
    return jpThemeLight === "false" || document.body.classList.contains("vscode-dark") ? "dark" : "light";
  };

  function library(name) {
    if (!(name in libraries)) {
      const element = document.querySelector(`script[data-autogen-nb-library="${CSS.escape(name)}"]`);
      // JupyterLab may remove this element while its cell is out of sight, so the text is stored for later frames.
      if (element) libraries[name] = element.textContent;
    }
    return libraries[name];
  }

  function answerWaiting() {
    for (const [frame, names] of waiting) {
      if (!frame.isConnected) waiting.delete(frame);
      else if (names.every((name) => library(name) !== undefined)) {
        waiting.delete(frame);
        if (!frame.offsetHeight) frame.style.height = `${Number(frame.dataset.height)}px`;
        frame.style.colorScheme = theme();
        frame.nextElementSibling.hidden = true;
        frame.contentWindow.postMessage({ theme: theme(), libraries: names.map(library) }, "*");
      }
    }
    clearTimeout(timer);
    timer = waiting.size ? setTimeout(answerWaiting, 300) : 0;
  }

  window.autogenNbFrames = true;
  window.addEventListener("message", ({ source, data }) => {
    const frame = frames().find((each) => each.contentWindow === source);
    if (!frame || typeof data !== "object" || data === null) return;
    if (Array.isArray(data.libraries)) {
      waiting.set(frame, data.libraries.map(String));
      answerWaiting();
    } else if (Number.isFinite(data.height)) {
      frame.style.height = `${Math.min(Math.max(data.height, 1), MOST_PIXELS)}px`;
    }
  });
  let shown = theme();
  new MutationObserver(() => {
    if (theme() === shown) return;
    shown = theme();
    for (const frame of frames()) {
      frame.style.colorScheme = theme();
      frame.contentWindow.postMessage({ theme: theme() }, "*");
    }
  }).observe(document.body, { attributeFilter: ["data-jp-theme-light", "class"] });
})();
