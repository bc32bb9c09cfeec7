// Runs in the inner frame before what it shows: tells its height, and finds libraries here that a CDN would serve.
(() => {
  let reported = -1;
  const tell = () => {
    const { body, documentElement } = document;
    const height = Math.max(documentElement.offsetHeight, body.scrollHeight + 2 * body.offsetTop);
    // A page that fills its frame, whatever its height, and a frame that is hidden have no height of their own.
    if (!innerHeight || height === innerHeight) return;
    // A map takes the height of its frame, but has none of its own: only a page that shows nothing may collapse.
    const shows = [...body.querySelectorAll(":not(script, style, link)")].some(
      (element) => element.childElementCount || element.textContent.trim() || element.matches("canvas, img, svg"));
    if (height < 20 && shows) return;
    // Most charts are drawn some time after the page is loaded.
    if (height < 20 && performance.now() < 2000) setTimeout(tell, 500);
    else if (height !== reported) parent.postMessage({ height: (reported = height) }, "*");
  };
  addEventListener("load", () => {
    tell();
    new ResizeObserver(tell).observe(document.body);
    new MutationObserver(() => requestAnimationFrame(tell)).observe(document.body, {
      subtree: true, childList: true, attributes: true,
    });
  });
  // Scripts that load a library from a CDN at run time (Altair, Bokeh) go on: the library is in this page already.
  Object.defineProperty(HTMLScriptElement.prototype, "src", {
    set() { setTimeout(() => this.dispatchEvent(new Event("load"))); },
  });
  // pyecharts asks RequireJS for its library.
  window.require = (names, use) => use(...names.map((name) => window[name]));
  window.require.config = window.requirejs = Object.assign(() => {}, { config() {} });
})();
