// The bar above a plot: fields, zoom, axes, and the plot as a file.
import { download } from '../../api';
import { offset } from '../../format';
import { usePlayback } from '../../playback';
import { saveBlob } from '../../save_blob';
import { plotText } from '../../text/panels';
import { showError } from '../../toasts';
import { Button, Menu, Spinner, type MenuItem } from '../../ui';
import type { PanelProps } from '../index';
import type { Chart } from './chart';
import { fieldsOfCurve } from './curves';
import { toCsv, toPng, toSvg } from './save';
import { writeSpan, type PlotSettings } from './settings';

const MAX_POINTS = 100_000; // of each field, by /series
const DIGITS = 6; // of a fixed axis

type Props = PanelProps & {
    set: PlotSettings;
    chart: { current: Chart | null };
    own: string;
    onPick: () => void;
    onCombine: () => void;
    busy: boolean;
};

function viewItems({ playback, settings, onSettings, set, chart, onCombine }: Props): MenuItem[] {
    const { bounds, range } = playback.get();
    const at = (seconds: number) => bounds.start + BigInt(Math.round(seconds * 1e9));
    const seconds = (time: bigint) => Number(time - bounds.start) / 1e9;
    const fixed = (key: 'y' | 'y2') =>
        onSettings({ [key]: set[key] ? null : writeSpan(chart.current!.axes()[key], DIGITS) });
    return [
        { label: plotText.combine, disabled: set.curves.length === 0, run: onCombine },
        {
            label: plotText.showLegend,
            checked: settings.legend !== 'no',
            run: () => onSettings({ legend: settings.legend === 'no' ? null : 'no' }),
        },
        { label: plotText.dots, checked: set.dots, run: () => onSettings({ dots: set.dots ? null : '1' }) },
        {
            label: plotText.spectrum,
            checked: set.spectrum,
            disabled: set.x !== null,
            run: () => onSettings({ fft: set.spectrum ? null : '1', y: null, y2: null }),
        },
        ...(set.other && !set.x
            ? [
                  {
                      label: plotText.difference,
                      checked: set.difference,
                      run: () => onSettings({ diff: set.difference ? null : '1' }),
                  },
              ]
            : []),
        { label: plotText.link, checked: set.link.linked, run: set.link.toggle },
        { label: plotText.fixY, checked: set.y !== null, run: () => fixed('y') },
        ...(set.difference || set.curves.some((curve) => curve.right)
            ? [{ label: plotText.fixY2, checked: set.y2 !== null, run: () => fixed('y2') }]
            : []),
        {
            label: plotText.toRange,
            disabled: !range,
            run: () => range && set.zoom(seconds(range.start), seconds(range.end)),
        },
        {
            label: plotText.asRange,
            disabled: !set.zoomed,
            run: () => playback.setRange({ start: at(set.from), end: at(set.to) }),
        },
    ];
}

export function PlotTools(props: Props) {
    const { recording, playback, set, chart, own, onPick, busy } = props;
    const { bounds } = usePlayback(playback, 500); // and its range, for the menu
    const save = async (form: 'png' | 'svg' | 'csv') => {
        const picture = chart.current?.picture();
        const blob =
            picture &&
            (form === 'png'
                ? await toPng(picture, own)
                : form === 'svg'
                  ? toSvg(picture, own, (s) => offset(BigInt(Math.round(s * 1e9))))
                  : toCsv(picture, own));
        if (blob) {
            saveBlob(blob, `${recording.name}.${form}`);
        }
    };
    const values = () => {
        const at = (seconds: number) => String(bounds.start + BigInt(Math.round(seconds * 1e9)));
        const params = {
            field: [...new Set(set.curves.flatMap(fieldsOfCurve))],
            start: at(set.from),
            end: String(BigInt(at(set.to)) + 1n),
            max_points: MAX_POINTS,
            time_format: 'rfc3339',
            output: 'csv',
        };
        void download(`/recordings/${recording.id}/series`, params).catch(showError);
    };
    const none = set.curves.length === 0;
    return (
        <div class="plot-tools row">
            <Button icon="settings" onClick={onPick}>
                {plotText.fields}
            </Button>
            {set.zoomed && <Button onClick={set.resetZoom}>{plotText.resetZoom}</Button>}
            <Menu icon="more" kind="plain" label={plotText.view} items={viewItems(props)} />
            <Menu
                icon="download"
                kind="plain"
                label={plotText.save}
                items={[
                    { label: plotText.png, disabled: none, run: () => void save('png') },
                    { label: plotText.svg, disabled: none, run: () => void save('svg') },
                    { label: plotText.csv, disabled: none, run: () => void save('csv') },
                    { label: plotText.csvValues, disabled: none, run: values },
                ]}
            />
            {busy && <Spinner />}
        </div>
    );
}
