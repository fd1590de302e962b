// The export of many recordings: one ZIP archive, or one file merged by time.
import { useState } from 'preact/hooks';
import { download, request, type Params } from '../../api';
import { service } from '../../service';
import { useStore } from '../../store';
import { text } from '../../text/common';
import { exportText } from '../../text/export';
import { libraryText } from '../../text/library';
import { showError, showToast } from '../../toasts';
import { Button, Dialog, Select, Spinner } from '../../ui';
import { listChoices, targetKey, titleOf } from '../recording/export_plan';
import type { Selection } from './selection';

const t = libraryText.exportMany;
const NAMED_MAX = 64; // recordings in the address of an export
type Kind = keyof typeof t.kinds;

/** Asks for one byte first: the browser shows no reason when a download fails. */
async function start(path: string, params: Params): Promise<void> {
    const answer = await request('GET', path, { params, headers: { Range: 'bytes=0-0', Prefer: 'wait=60' } });
    const leftOut = answer.headers.get('X-Left-Out');
    await answer.body?.cancel(); // a text is sent as a whole
    if (leftOut) {
        showToast(t.leftOut(leftOut));
    }
    await download(path, params);
}

export function ExportMany({
    selection,
    merge,
    onClose,
}: {
    selection: Selection;
    merge: boolean;
    onClose: () => void;
}) {
    const { search, ids, count } = selection;
    const known = useStore(service);
    const [kind, setKind] = useState<Kind>(merge ? 'merged' : 'zip');
    const [chosen, setChosen] = useState('.mcap');
    const [preparing, setPreparing] = useState(false);
    const targets = listChoices(known?.targets ?? []).filter((one) => one.ranges);
    const target = targets.find((one) => targetKey(one) === chosen) ?? targets[0];
    const tooMany = !search && ids.size > NAMED_MAX;
    const run = () => {
        const params: Params = { ...(search ?? { recording: [...ids.keys()] }), version: target!.version };
        const as = target!.extension.replace(/^\./, '');
        const [path, more]: [string, Params] =
            kind === 'zip'
                ? ['/search/export.zip', { as }]
                : kind === 'bag'
                  ? ['/search/export.zip', { package: 'bagit', as: `original,${as}` }]
                  : [`/${search ? 'search' : 'merge'}/as/export${target!.extension}`, {}];
        setPreparing(true);
        start(path, { ...params, ...more })
            .then(onClose, showError)
            .finally(() => setPreparing(false));
    };
    return (
        <Dialog
            title={merge ? t.mergeTitle(count) : t.title(count)}
            onClose={onClose}
            actions={
                <>
                    {preparing && <Spinner />}
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Button kind="main" icon="download" disabled={!target || tooMany || preparing} onClick={run}>
                        {exportText.download}
                    </Button>
                </>
            }
        >
            <div class="library-form">
                {!merge && (
                    <Select
                        label={t.kind}
                        value={kind}
                        options={Object.entries(t.kinds)}
                        onChange={(to) => setKind(to as Kind)}
                    />
                )}
                <Select
                    label={exportText.format}
                    value={target ? targetKey(target) : ''}
                    options={targets.map((one) => [targetKey(one), titleOf(one, known!.formats)])}
                    onChange={setChosen}
                />
                {search && (search.start || search.end) && <p class="small muted">{t.dates}</p>}
                {tooMany && <p class="error">{t.many(NAMED_MAX)}</p>}
            </div>
        </Dialog>
    );
}
