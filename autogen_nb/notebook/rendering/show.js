// Adds buttons to a cell's last line that select what the cell shows; without scripts, there are none.
(() => {
  const script = document.currentScript, area = script.closest(".jp-OutputArea");
  const switcher = script.previousElementSibling;
  if (!area || switcher.childElementCount) return;
  const select = (mode) => {
    for (const fold of area.querySelectorAll("details")) {
      const kind = fold.dataset.autogenNb;
      fold.open = mode === "all" || (kind === "code" && mode === "code") || (kind === "work" && mode !== "answer");
    }
    const outputs = [...area.children], end = outputs.findIndex((output) => output.contains(script));
    const answer = outputs.slice(0, end).findLastIndex((output) => output.textContent.trim());
    outputs.slice(0, Math.max(answer, 0)).forEach((output) => {
      const hidden = mode === "answer" && !output.querySelector('details[data-autogen-nb="work"]');
      output.style.display = hidden ? "none" : "";
    });
    for (const button of switcher.children) {
      const pressed = button.textContent === mode;
      button.setAttribute("aria-pressed", pressed);
      button.style.fontWeight = pressed ? "600" : "";
      button.style.textDecoration = pressed ? "none" : "underline";
    }
  };
  switcher.style.whiteSpace = "nowrap";
  switcher.append(" \u00b7 show");
  for (const mode of ["answer", "results", "code", "all"]) {
    const button = document.createElement("button");
    button.style.cssText = "font:inherit;color:inherit;background:none;border:0;padding:0 0 0 6px;cursor:pointer";
    button.textContent = mode;
    button.onclick = () => select(mode);
    switcher.append(button);
  }
  select(switcher.dataset.show);
})();
