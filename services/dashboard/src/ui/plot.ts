import { type Html, html } from "../http/html.ts";

/** The values at one position of the horizontal axis. */
export interface PlotPoint {
  /** The label of the position, such as a day. */
  readonly label: string;
  /** The same as short as the axis needs it. */
  readonly tick: string;
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
/** Maximum number of labels on the horizontal axis. */
const MAX_TICKS = 7;

/** Returns the top of the vertical axis for a greatest value: a round number, of which the half is round too. */
export function axisTop(most: number): number {
  if (most <= 10) return Math.max(2, Math.ceil(most / 2) * 2);
  const power = 10 ** Math.floor(Math.log10(most));
  const factor = [1, 1.2, 1.4, 1.6, 2, 2.4, 3, 4, 5, 6, 8].find((each) => each * power >= most) ?? 10;
  return Math.round(factor * power);
}

/** Returns the points that the horizontal axis names: the first of each of a few groups of the same size. */
function ticksOf(points: readonly PlotPoint[]): readonly PlotPoint[] {
  const sizes = points.map((_, place) => place + 1);
  const size = sizes.find((each) => points.length % each === 0 && points.length / each <= MAX_TICKS) ?? 1;
  return points.filter((_, place) => place % size === 0);
}

/** Renders stacked bars. Shapes are stretched to the width of the page; text is not, so it stays legible. */
export function stackedBars(plot: Plot): Html {
  const top = axisTop(Math.max(0, ...plot.points.map(({ values }) => sum(values))));
  const bars = plot.points.map((point, place) => {
    let below = 0;
    const parts = point.values.map((value = 0, index) => {
      const height = (value / top) * HEIGHT;
      below += height;
      const { className } = plot.series[index]!;
      return value > 0
        ? html`<rect class="${className}" x="${place * WIDTH + 1}" width="${WIDTH - 2}" y="${(HEIGHT - below).toFixed(2)}" height="${height.toFixed(2)}"/>`
        : undefined;
    });
    return html`<g><title>${describe(plot, point)}</title><rect class="hover" x="${place * WIDTH}" width="${WIDTH}" y="0" height="${HEIGHT}"/>${parts}</g>`;
  });
  return figure(plot, top, html`${bars}`);
}

/** Renders one line per series, broken where a value is missing. */
export function lines(plot: Plot): Html {
  const top = axisTop(Math.max(0, ...plot.points.flatMap(({ values }) => values.map((value = 0) => value))));
  const paths = plot.series.map(({ className }, index) => {
    let path = "";
    let dots = "";
    const valueAt = (place: number) => plot.points[place]?.values[index];
    for (const place of plot.points.keys()) {
      const value = valueAt(place);
      if (value === undefined) continue;
      const at = `${place * WIDTH + WIDTH / 2} ${(HEIGHT - (value / top) * HEIGHT).toFixed(2)}`;
      const isJoined = valueAt(place - 1) !== undefined;
      path += isJoined ? `L${at}` : `M${at}`;
      // A line of almost no length is a dot as wide as its stroke.
      if (!isJoined && valueAt(place + 1) === undefined) dots += `M${at}h0.01`;
    }
    return html`<path class="line ${className}" d="${path}"/>${dots && html`<path class="line dot ${className}" d="${dots}"/>`}`;
  });
  const targets = plot.points.map(
    (point, place) =>
      html`<rect class="hover" x="${place * WIDTH}" width="${WIDTH}" y="0" height="${HEIGHT}"><title>${describe(plot, point)}</title></rect>`,
  );
  return figure(plot, top, html`${targets}${paths}`);
}

function figure(plot: Plot, top: number, shapes: Html): Html {
  const { id, title, note, series, points, text } = plot;
  const width = points.length * WIDTH;
  return html`<figure class="plot" aria-labelledby="${id}-title">
<figcaption id="${id}-title">${title}</figcaption>
${note && html`<p class="hint">${note}</p>`}
<ul class="legend">${series.map(({ name, className }) => html`<li><span class="swatch ${className}"></span>${name}</li>`)}</ul>
<div class="drawing">
<p class="scale" aria-hidden="true"><span>${text(top)}</span><span>${text(top / 2)}</span><span>0</span></p>
<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}; the table below has the numbers"><path class="grid" d="M0 0H${width}M0 ${HEIGHT / 2}H${width}"/>${shapes}</svg>
<p class="ticks" aria-hidden="true">${ticksOf(points).map(({ tick }) => html`<span>${tick}</span>`)}</p>
</div>
${table(plot)}
</figure>`;
}

/** Renders the values as a table, for people who can't see the drawing or want to copy the numbers. */
function table({ series, points, text }: Plot): Html {
  return html`<details><summary>Show the numbers</summary>
<table>
<thead><tr><th scope="col">When</th>${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>${points.map(
    ({ label, values }) =>
      html`<tr><th scope="row">${label}</th>${values.map((value, index) => html`<td data-label="${series[index]!.name}" class="number">${value === undefined ? "–" : text(value)}</td>`)}</tr>`,
  )}</tbody>
</table>
</details>`;
}

function describe({ series, text }: Plot, { label, values }: PlotPoint): string {
  const parts = values.flatMap((value, index) => (value ? [`${series[index]!.name} ${text(value)}`] : []));
  return `${label}: ${parts.join(", ") || "nothing"}`;
}

const sum = (values: readonly (number | undefined)[]) => values.reduce<number>((total, value = 0) => total + value, 0);
