// The upload view: choose or drop files and folders; each is sent resumably, verified, and linked when stored.
import { Component } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAddress } from '../../address';
import { readDrop } from '../../file_drop';
import { bytes, count, duration } from '../../format';
import { reachable } from '../../server_state';
import { refusal, service, useRole } from '../../service';
import { useStore } from '../../store';
import { text } from '../../text/common';
import { uploadText } from '../../text/upload';
import { showError } from '../../toasts';
import { Badge, Button, EmptyState, Progress } from '../../ui';
import { filesFromDrop, filesFromInput } from './files';
import { OptionFields, rememberCollection, useOptions } from './options';
import { addFiles, addTags, clearDone, finished, pause, queue, remove, resume, type Chosen, type Item } from './queue';
import { showTags } from './tags';

const t = uploadText;

/** Renders only when its own item has changed: there may be thousands, each with frequent progress updates. */
class Row extends Component<{ item: Item }> {
    override shouldComponentUpdate(next: { item: Item }) {
        return next.item !== this.props.item;
    }
    override render() {
        return <Line item={this.props.item} />;
    }
}

const KINDS = {
    done: 'good',
    partial: 'warn',
    duplicate: 'accent',
    failed: 'bad',
    paused: 'warn',
    waiting: '',
    sending: '',
    checking: '',
} as const;

function Actions({ item }: { item: Item }) {
    const active = item.state === 'sending' || item.state === 'waiting';
    return (
        <span class="upload-actions">
            {active && <Button kind="quiet" icon="pause" label={t.pause(item.name)} onClick={() => pause(item.id)} />}
            {item.state === 'paused' && (
                <Button kind="quiet" icon="play" label={t.resume(item.name)} onClick={() => resume(item.id)} />
            )}
            {item.state === 'failed' && <Button onClick={() => resume(item.id)}>{text.retry}</Button>}
            <Button kind="quiet" icon="close" label={t.remove(item.name)} onClick={() => remove(item.id)} />
        </span>
    );
}

/** The recording that has the same content already: the chosen collection and tags are not its own. */
function Duplicate({ item }: { item: Item }) {
    const mayEdit = useRole('edit');
    const { collection } = item.recording!;
    const hasTags = Object.keys(item.tags).length > 0;
    return (
        <p class="small row">
            {collection !== item.collection && <span>{t.otherCollection(collection, item.collection)}</span>}
            {item.tagged && <span>{t.tagged(showTags(item.tags))}</span>}
            {hasTags && !item.tagged && <span>{t.notTagged(showTags(item.tags))}</span>}
            {hasTags && !item.tagged && mayEdit && (
                <Button onClick={() => void addTags(item.id).catch(showError)}>{t.addTags}</Button>
            )}
        </p>
    );
}

function Line({ item }: { item: Item }) {
    const active = item.state === 'sending' || item.state === 'paused';
    const checking = item.state === 'checking';
    const answers = useStore(reachable);
    const state = item.state === 'sending' && !answers ? 'waiting' : item.state;
    const part = item.size > 0 ? (checking ? item.hashed : item.done) / item.size : 1;
    return (
        <li class="upload-item">
            <div class="upload-line">
                <span class="upload-name mono">{item.name}</span>
                <Badge kind={KINDS[state]}>{t.states[state]}</Badge>
                <span class="muted small upload-size">
                    {active ? `${bytes(item.done)} / ${bytes(item.size)}` : bytes(item.size)}
                    {state === 'sending' &&
                        item.speed > 0 &&
                        ` · ${bytes(item.speed)}/s · ${t.left(duration(Math.ceil((item.size - item.done) / item.speed) * 1e9))}`}
                </span>
                <Actions item={item} />
            </div>
            {(active || checking) && (
                <Progress label={t.progress(item.name)} value={checking && part === 1 ? null : part} />
            )}
            {item.problem && (
                <p class={item.state === 'partial' ? 'upload-partial' : 'error'} role="alert">
                    {item.problem}
                </p>
            )}
            {item.recording && (
                <p class="small">
                    {item.state === 'duplicate' ? t.storedAs : t.savedAs}{' '}
                    <a class="link" href={`recordings/${item.recording.id}`}>
                        {item.recording.collection}/{item.recording.name}
                    </a>
                </p>
            )}
            {item.state === 'duplicate' && <Duplicate item={item} />}
        </li>
    );
}

function Picker({ label, folder, onFiles }: { label: string; folder?: boolean; onFiles: (files: FileList) => void }) {
    const input = useRef<HTMLInputElement>(null);
    useEffect(() => {
        if (folder) {
            input.current!.setAttribute('webkitdirectory', '');
        }
    }, []);
    return (
        <>
            <input
                ref={input}
                hidden
                type="file"
                multiple
                onChange={(event) => {
                    const { files } = event.currentTarget;
                    if (files) {
                        onFiles(files);
                    }
                    event.currentTarget.value = '';
                }}
            />
            <Button kind={folder ? 'plain' : 'main'} onClick={() => input.current!.click()}>
                {label}
            </Button>
        </>
    );
}

export default function Upload() {
    const refused = refusal(useStore(service), 'upload');
    if (!refused) {
        return <UploadView />;
    }
    return (
        <>
            <h1 class="visually-hidden">{t.title}</h1>
            <EmptyState {...refused} />
        </>
    );
}

function Queue() {
    const items = useStore(queue);
    const done = items.filter((item) => finished(item.state)).length;
    if (items.length === 0) {
        return null;
    }
    return (
        <section aria-label={t.list}>
            <header class="row upload-head">
                <h2 class="grow">{t.progressOf(count(done), count(items.length))}</h2>
                <Button disabled={done === 0} onClick={clearDone}>
                    {t.clearFinished}
                </Button>
            </header>
            <ul class="upload-items">
                {items.map((item) => (
                    <Row key={item.id} item={item} />
                ))}
            </ul>
        </section>
    );
}

function UploadView() {
    const form = useOptions(useAddress().query.get('collection'));
    const [held, setHeld] = useState<Chosen[]>([]); // chosen while the collection or the tags were wrong
    const [over, setOver] = useState(false);
    const add = (files: Chosen[]) => {
        const all = [
            ...held,
            ...files.filter(
                (one) => !held.some((other) => other.name === one.name && other.file.size === one.file.size),
            ),
        ];
        if (!form.options) {
            setHeld(all);
            return;
        }
        rememberCollection(form.options.collection);
        addFiles(all, form.options.collection, form.options.tags);
        setHeld([]);
    };
    const drop = (event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer) {
            filesFromDrop(readDrop(event.dataTransfer)).then(add, showError);
        }
    };
    return (
        <div
            class="upload"
            onDragOver={(event) => (event.preventDefault(), setOver(true))}
            onDragLeave={() => setOver(false)}
            onDrop={drop}
        >
            <h1>{t.title}</h1>
            <OptionFields form={form} />
            <div class={`upload-drop ${over ? 'over' : ''}`}>
                <p>{t.drop}</p>
                <div class="row">
                    <Picker label={t.files} onFiles={(files) => add(filesFromInput(files))} />
                    <Picker label={t.folder} folder onFiles={(files) => add(filesFromInput(files))} />
                </div>
                <p class="small muted">{t.help}</p>
            </div>
            {held.length > 0 && (
                <div class="upload-held card" role="alert">
                    <p class="grow">{t.held(held.length)}</p>
                    <Button onClick={() => setHeld([])}>{text.cancel}</Button>
                    <Button kind="main" disabled={!form.options} onClick={() => add([])}>
                        {t.sendHeld(held.length)}
                    </Button>
                </div>
            )}
            <Queue />
        </div>
    );
}
