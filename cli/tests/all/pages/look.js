// What can be told of a page by looking at it. Contrast and luminance: WCAG 2.2, success criterion 1.4.3.
(() => {
  const channels = color => color.match(/[\d.]+/g).map(Number);
  const luminance = color => {
    const [r, g, b] = channels(color).map(it => {
      const part = it / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const isClear = color => channels(color)[3] === 0;
  // A picture that is a file of its own has its paper in it.
  const paper = document.querySelector(":root > rect.page");
  const behind = element => {
    if (paper) return getComputedStyle(paper).fill;
    for (let it = element; it; it = it.parentElement) {
      const color = getComputedStyle(it).backgroundColor;
      if (!isClear(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const isSeen = element => element.checkVisibility() && element.getClientRects().length > 0;
  const words = element =>
    [...element.childNodes].filter(it => it.nodeType === 3 && it.data.trim()).map(it => it.data.trim()).join(" ");
  const texts = [...(document.body ?? document).querySelectorAll("*")].filter(it => words(it) && isSeen(it));
  const pale = [], small = [];
  for (const element of texts) {
    const style = getComputedStyle(element);
    const svg = element.closest("svg");
    if (element instanceof SVGElement && element.tagName !== "text") continue;
    // A text on a bar is drawn right after it, or in a group for bars of its kind.
    const kind = svg && /^on-(win|draw|loss)$/.exec(element.parentElement.getAttribute("class"))?.[1];
    const isOnPart = svg && element.className.baseVal === "on-part";
    const bar = kind ? svg.querySelector(`.bar.${kind}`) : isOnPart ? element.previousElementSibling : null;
    const under = bar ? getComputedStyle(bar).fill : behind(svg ?? element);
    const ratio = contrast(svg ? style.fill : style.color, under);
    if (ratio < 4.5) pale.push(`${ratio.toFixed(2)} ${element.tagName}.${element.className.baseVal ?? element.className} ${words(element)}`);
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const size = parseFloat(style.fontSize) * scale;
    if (size < 10.5) small.push(`${size.toFixed(1)} ${words(element)}`);
  }
  const overlaps = [];
  for (const svg of document.querySelectorAll("svg[role=img]")) {
    if (!isSeen(svg)) continue;
    const boxes = [...svg.querySelectorAll("text")].map(it => [it.textContent, it.getBoundingClientRect()]);
    boxes.forEach(([a, one], at) => boxes.slice(at + 1).forEach(([b, other]) => {
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      // Boxes of lines are higher than their letters.
      if (wide > 1 && high > 4) overlaps.push(`${a} / ${b}`);
    }));
    const whole = svg.getBoundingClientRect();
    for (const [text, box] of boxes) {
      if (box.left < whole.left - 1 || box.right > whole.right + 1) overlaps.push(`${text} / the edge`);
    }
  }
  const count = selector => [...document.querySelectorAll(selector)].filter(isSeen).length;
  const attributes = [...document.querySelectorAll("*")].flatMap(it => [...it.attributes]);
  return {
    width: document.documentElement.scrollWidth,
    background: behind(document.documentElement),
    headings: count("h1, h2, h3"),
    title: (document.querySelector("h1") ?? document.querySelector("title")).textContent,
    plots: count("svg[role=img]"),
    rows: count("tbody tr"),
    pale, small, overlaps,
    active: document.querySelectorAll("script, iframe, object, embed, link, img, form, a, base").length
      + attributes.filter(it => it.name.startsWith("on") || /^\s*javascript:/i.test(it.value)).length,
    ran: document.documentElement.dataset.ran ?? null,
  };
})()
