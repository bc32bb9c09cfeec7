// Runs in the notebook's page: gives each frame its libraries and theme, and the height of its content.
// Uses only a number, library names and one short text from a frame's messages, because the frame may contain any script.
(() => {
  if (window.autogenNbFrames) return;
  const MOST_PIXELS = 4000;
  const MOST_CHARACTERS = 200;
  const BLOCKED = {
    tiles: 'The map\u2019s tiles are blocked, because this frame has no network. To see them, let the code run ' +
      'map.save("map.html"), and open the file in a browser.',
    data: "Pictures or data from the web are blocked, because this frame has no network. To see them, let the code save " +
      "the chart as an HTML file, and open it in a browser.",
  };
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

  // A frame gets at most one line of each kind, below it.
  function addLine(frame, kind, textContent) {
    const place = frame.parentElement;
    if (place.querySelector(`[data-autogen-nb-line="${kind}"]`)) return;
    const line = Object.assign(document.createElement("div"), { textContent, dir: "ltr" });
    line.dataset.autogenNbLine = kind;
    line.style.cssText = "margin:3px 0;font-size:var(--jp-ui-font-size1,13px);line-height:1.5;overflow-wrap:anywhere";
    line.style.color = kind === "error" ? "var(--jp-error-color1,#d64545)" : "var(--jp-content-font-color2,inherit)";
    place.append(line);
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
    } else if (typeof data.error === "string") {
      // Neither line breaks nor invisible characters, which could reverse the text.
      const text = data.error.slice(0, 10 * MOST_CHARACTERS).replace(/[\p{C}\s]+/gu, " ");
      addLine(frame, "error", `\u2715 A script of this chart failed: ${text.slice(0, MOST_CHARACTERS)}`);
    } else if (Object.hasOwn(BLOCKED, data.blocked)) {
      addLine(frame, "blocked", BLOCKED[data.blocked]);
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
