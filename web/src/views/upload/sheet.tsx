// What a drop outside the upload view opens: which files, to which collection, with which tags. Nothing is sent before
// the button.
import { useEffect } from 'preact/hooks';
import { go } from '../../address';
import { get } from '../../api';
import { droppedFiles, type Dropped } from '../../file_drop';
import { bytes } from '../../format';
import { refusal, service } from '../../service';
import { useStore } from '../../store';
import { text } from '../../text/common';
import { uploadText } from '../../text/upload';
import { showError } from '../../toasts';
import type { Recording } from '../../types';
import { Button, Dialog, Spinner } from '../../ui';
import { useRequest } from '../../use_request';
import { filesFromDrop } from './files';
import { OptionFields, rememberCollection, useOptions } from './options';
import { addFiles, type Chosen } from './queue';

const t = uploadText;
const SHOWN = 5;

/** The collection that is being viewed. */
async function viewedCollection({ collection, recording }: Dropped, signal: AbortSignal): Promise<string | null> {
    if (collection || !recording) {
        return collection;
    }
    return get<Recording>(`/recordings/${recording}`, {}, signal).then(
        (found) => found.collection,
        () => null,
    );
}

function Sheet({ files, preset, onClose }: { files: Chosen[]; preset: string | null; onClose: () => void }) {
    const form = useOptions(preset);
    const send = () => {
        if (form.options) {
            rememberCollection(form.options.collection);
            addFiles(files, form.options.collection, form.options.tags);
            onClose();
            go('upload');
        }
    };
    return (
        <Dialog
            title={t.sheetTitle(files.length)}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Button kind="main" disabled={!form.options || files.length === 0} onClick={send}>
                        {t.title}
                    </Button>
                </>
            }
        >
            <form class="upload-sheet" onSubmit={(event) => (event.preventDefault(), send())}>
                <ul class="upload-chosen">
                    {files.slice(0, SHOWN).map(({ name, file }) => (
                        <li key={name}>
                            <span class="mono ellipsis">{name}</span>{' '}
                            <span class="muted small">{bytes(file.size)}</span>
                        </li>
                    ))}
                    {files.length > SHOWN && <li class="muted">{text.moreItems(files.length - SHOWN)}</li>}
                </ul>
                <OptionFields form={form} focus />
                <button type="submit" hidden />
            </form>
        </Dialog>
    );
}

export default function DropSheet() {
    const dropped = useStore(droppedFiles)!;
    const close = () => droppedFiles.set(null);
    const { value, error } = useRequest(
        async (signal) => ({
            files: await filesFromDrop(dropped.files),
            preset: await viewedCollection(dropped, signal),
        }),
        [dropped],
    );
    const refused = refusal(useStore(service), 'upload');
    useEffect(() => {
        if (error !== null || refused) {
            showError(error ?? new Error(refused!.title + '. ' + refused!.help));
            close();
        }
    }, [error, refused !== null]);
    return value && !refused ? <Sheet files={value.files} preset={value.preset} onClose={close} /> : <Spinner />;
}
