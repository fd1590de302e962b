// A plot as a file: the picture as PNG or SVG, with its legend, or its points as CSV.
import { colour } from '../../theme';
import type { Chart } from './chart';
import type { Line } from './data';
import { colourOf, dashOf, eachPoint, toPixels, trace } from './draw';
import { nameOf } from './legend';

const ROW = 18; // px: a line of the legend
const FONT = '12px sans-serif';
type Picture = NonNullable<ReturnType<Chart['picture']>>;

/**
 * The canvas on the page's background, with the names of the lines below: it is transparent, and text in the dark theme
 * would be unreadable elsewhere.
 */
export function toPng({ canvas, view, ratio }: Picture, own: string): Promise<Blob | null> {
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height + (view.lines.length * ROW + 8) * ratio];
    const context = copy.getContext('2d')!;
    context.fillStyle = colour('--raised');
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(canvas, 0, 0);
    context.scale(ratio, ratio);
    context.font = FONT;
    view.lines.forEach((line, i) => {
        const y = canvas.height / ratio + i * ROW + 12;
        context.fillStyle = colourOf(line);
        context.fillRect(12, y - 9, 10, 10);
        context.fillStyle = colour('--ink');
        context.fillText(nameOf(line, own), 28, y);
    });
    return new Promise((done) => copy.toBlob(done, 'image/png'));
}

const escaped = (value: string): string => value.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

function pathOf(line: Line, { area, view }: Picture): string {
    const out: string[] = [];
    const at = (kind: string) => (x: number, y: number) => void out.push(`${kind}${x.toFixed(1)} ${y.toFixed(1)}`);
    trace(line, area, view.overTime, { moveTo: at('M'), lineTo: at('L') });
    if (view.dots) {
        eachPoint(line, area, view.overTime, (x, y) => out.push(`M${(x - 2).toFixed(1)} ${y.toFixed(1)}h4`));
    }
    return `<path d="${out.join('')}" fill="none" stroke="${colourOf(line)}" stroke-width="1.5" stroke-linejoin="round"${line.source.name ? ` stroke-dasharray="${dashOf(line).join(' ')}"${line.source.difference ? '' : ' opacity="0.65"'}` : ''}/>`;
}

const TICKS = 5;

/** Numbers at the axes, evenly. */
function ticks({ area, view }: Picture, timeLabel: (seconds: number) => string): string {
    const { px, py } = toPixels(area, false);
    const steps = Array.from({ length: TICKS + 1 }, (_, i) => i / TICKS);
    const ink = colour('--ink-soft');
    const label = (x: number, y: number, anchor: string, value: string) =>
        `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${ink}">${escaped(value)}</text>`;
    const rule = (path: string) => `<path d="${path}" stroke="${colour('--line')}"/>`;
    const across = steps.map((part) => area.x[0] + part * (area.x[1] - area.x[0]));
    const up = steps.map((part) => area.y[0] + part * (area.y[1] - area.y[0]));
    const short = (value: number) => String(Number(value.toPrecision(4)));
    return [
        ...across.map(
            (x) =>
                rule(`M${px(x).toFixed(1)} ${area.top}v${area.height}`) +
                label(px(x), area.top + area.height + 16, 'middle', view.overTime ? timeLabel(x) : short(x)),
        ),
        ...up.map(
            (y) =>
                rule(`M${area.left} ${py(y).toFixed(1)}h${area.width}`) +
                label(area.left - 6, py(y) + 4, 'end', short(y)),
        ),
        ...(view.lines.some((line) => line.curve.right)
            ? steps.map((part) =>
                  label(
                      area.left + area.width + 6,
                      area.top + area.height * (1 - part) + 4,
                      'start',
                      short(area.y2[0] + part * (area.y2[1] - area.y2[0])),
                  ),
              )
            : []),
    ].join('\n');
}

export function toSvg(drawn: Picture, own: string, timeLabel: (seconds: number) => string): Blob {
    const { canvas, ratio, view } = drawn;
    const scale = (value: number) => value / ratio;
    const area = {
        ...drawn.area,
        left: scale(drawn.area.left),
        top: scale(drawn.area.top),
        width: scale(drawn.area.width),
        height: scale(drawn.area.height),
    };
    const picture = { ...drawn, area };
    const [width, height] = [scale(canvas.width), scale(canvas.height)];
    const whole = height + view.lines.length * ROW + 8;
    const names = view.lines.map((line, i) => {
        const y = height + i * ROW + 12;
        return `<rect x="12" y="${y - 9}" width="10" height="10" fill="${colourOf(line)}"/><text x="28" y="${y}" fill="${colour('--ink')}">${escaped(nameOf(line, own))}</text>`;
    });
    const parts = [
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}" font-family="sans-serif" font-size="12">`,
        `<rect width="100%" height="100%" fill="${colour('--raised')}"/>`,
        `<clipPath id="area"><rect x="${area.left}" y="${area.top}" width="${area.width}" height="${area.height}"/></clipPath>`,
        ticks(picture, timeLabel),
        `<g clip-path="url(#area)">`,
        ...view.lines.map((line) => pathOf(line, picture)),
        '</g>',
        ...names,
        '</svg>\n',
    ];
    return new Blob([parts.join('\n')], { type: 'image/svg+xml' });
}

const quoted = (value: string): string => (/[",\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value);

/** A row for each point that is drawn; times are seconds from the recording's start, frequencies in Hz. */
export function toCsv({ view }: Picture, own: string): Blob {
    const one = view.overTime || view.spectrum; // the value has one place
    const rows = [view.spectrum ? 'frequency,curve,value' : one ? 'time,curve,value' : 'time,curve,x,value'];
    for (const line of view.lines) {
        const name = quoted(nameOf(line, own));
        line.points.t.forEach((time, i) => {
            if (view.spectrum || (time >= view.from && time <= view.to)) {
                rows.push(
                    [Number(time.toFixed(9)), name, ...(one ? [] : [line.x[i]!]), valueOf(line.points.v[i]!)].join(','),
                );
            }
        });
    }
    return new Blob([rows.join('\r\n') + '\r\n'], { type: 'text/csv' });
}
const valueOf = (value: number): string => (Number.isNaN(value) ? '' : String(value));
