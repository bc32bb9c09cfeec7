// Runs in the outer frame, whose policy also applies to the inner one. Creates the inner frame, and passes on its messages.
(() => {
  const script = document.currentScript;
  const names = JSON.parse(script.dataset.libraries);
  const inner = document.createElement("iframe");
  inner.sandbox = "allow-scripts";
  let libraries = [];

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  async function show(theme) {
    const [page, ...sources] = await Promise.all([script.dataset.page, ...libraries].map(unpacked));
    const scripts = sources.map((source) => `\x3cscript>${source}\x3c/script>`).join("");
    inner.srcdoc =
      `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="${theme}">` +
      "<style>body{font:13px system-ui,sans-serif}</style>" +
      `\x3cscript>const autogenNbTheme = "${theme}";\x3c/script>${page.replace("@libraries@", () => scripts)}`;
    document.documentElement.style.colorScheme = theme;
    if (!inner.isConnected) document.body.append(inner);
  }

  addEventListener("message", ({ source, data }) => {
    if (source === parent) {
      libraries = data.libraries ?? libraries;
      show(data.theme === "dark" ? "dark" : "light");
    } else if (source === inner.contentWindow && data) {
      const { height, error, blocked } = data;
      parent.postMessage({ height, error, blocked }, "*");
    }
  });
  addEventListener("DOMContentLoaded", () => parent.postMessage({ libraries: names }, "*"));
})();
