import { type Html, html } from "../http/html.ts";

/** The values at one position of the horizontal axis. */
export interface PlotPoint {
  /** The label of the position, such as a day. */
  readonly label: string;
  /** One value per series; undefined is a gap. */
  readonly values: readonly (number | undefined)[];
}

export interface Plot {
  readonly id: string;
  readonly title: string;
  /** A summary in one sentence, shown below the title. */
  readonly note?: string;
  /** Each class sets the color, and the dashes of lines, in the stylesheet. */
  readonly series: readonly { readonly name: string; readonly className: string }[];
  readonly points: readonly PlotPoint[];
  /** Formats a value for display. */
  readonly text: (value: number) => string;
}

const WIDTH = 10;
const HEIGHT = 100;

/** Renders stacked bars. Shapes are stretched to the width of the page; text is not, so it stays legible. */
export function stackedBars(plot: Plot): Html {
  const most = Math.max(1, ...plot.points.map(({ values }) => sum(values)));
  const bars = plot.points.map((point, place) => {
    let below = 0;
    const parts = point.values.map((value = 0, index) => {
      const height = (value / most) * HEIGHT;
      below += height;
      const { className } = plot.series[index]!;
      return value > 0
        ? html`<rect class="${className}" x="${place * WIDTH + 1}" width="${WIDTH - 2}" y="${(HEIGHT - below).toFixed(2)}" height="${height.toFixed(2)}"/>`
        : undefined;
    });
    return html`<g><title>${describe(plot, point)}</title><rect class="hover" x="${place * WIDTH}" width="${WIDTH}" y="0" height="${HEIGHT}"/>${parts}</g>`;
  });
  return figure(plot, most, html`${bars}`);
}

/** Renders one line per series, broken where a value is missing. */
export function lines(plot: Plot): Html {
  const most = Math.max(1, ...plot.points.flatMap(({ values }) => values.map((value = 0) => value)));
  const paths = plot.series.map(({ className }, index) => {
    let path = "";
    let isDrawing = false;
    for (const [place, { values }] of plot.points.entries()) {
      const value = values[index];
      if (value !== undefined) {
        const [x, y] = [place * WIDTH + WIDTH / 2, (HEIGHT - (value / most) * HEIGHT).toFixed(2)];
        // A point without neighbours needs a minimal length to be visible.
        path += isDrawing ? `L${x} ${y}` : `M${x} ${y}h0.01`;
      }
      isDrawing = value !== undefined;
    }
    return html`<path class="line ${className}" d="${path}"/>`;
  });
  const targets = plot.points.map(
    (point, place) =>
      html`<rect class="hover" x="${place * WIDTH}" width="${WIDTH}" y="0" height="${HEIGHT}"><title>${describe(plot, point)}</title></rect>`,
  );
  return figure(plot, most, html`${targets}${paths}`);
}

function figure(plot: Plot, most: number, shapes: Html): Html {
  const { id, title, note, series, points, text } = plot;
  return html`<figure class="plot" aria-labelledby="${id}-title">
<figcaption id="${id}-title">${title}</figcaption>
${note && html`<p class="hint">${note}</p>`}
<ul class="legend">${series.map(({ name, className }) => html`<li><span class="swatch ${className}"></span>${name}</li>`)}</ul>
<div class="drawing">
<span class="most">${text(most)}</span>
<svg viewBox="0 0 ${points.length * WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}; the table below has the numbers">${shapes}</svg>
<p class="ends"><span>${points[0]?.label}</span><span>${points.at(-1)?.label}</span></p>
</div>
${table(plot)}
</figure>`;
}

/** Renders the values as a table, for people who can't see the drawing or want to copy the numbers. */
function table({ series, points, text }: Plot): Html {
  return html`<details><summary>Show the numbers</summary>
<table>
<thead><tr><th scope="col">When</th>${series.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${points.map(
    ({ label, values }) =>
      html`<tr><th scope="row">${label}</th>${values.map((value, index) => html`<td data-label="${series[index]!.name}">${value === undefined ? "–" : text(value)}</td>`)}</tr>`,
  )}</tbody>
</table>
</details>`;
}

function describe({ series, text }: Plot, { label, values }: PlotPoint): string {
  const parts = values.flatMap((value, index) => (value ? [`${series[index]!.name} ${text(value)}`] : []));
  return `${label}: ${parts.join(", ") || "nothing"}`;
}

const sum = (values: readonly (number | undefined)[]) => values.reduce<number>((total, value = 0) => total + value, 0);
