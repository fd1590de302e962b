// The upload view: choose or drop files and folders; each is hashed, sent resumably, and linked when stored.
import { Component } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAddress } from '../../address';
import { readDrop } from '../../file_drop';
import { bytes, count } from '../../format';
import { useStore } from '../../store';
import { text } from '../../text';
import { showError } from '../../toasts';
import { Badge, Button, Field, Progress } from '../../ui';
import { COLLECTION_KEY, lastCollection } from './quick_upload';
import { filesFromDrop, filesFromInput } from './files';
import { addFiles, clearDone, pause, queue, remove, resume, type Item } from './queue';

/** Renders only when its own item has changed: there may be thousands, each with frequent progress updates. */
class Row extends Component<{ item: Item }> {
    override shouldComponentUpdate(next: { item: Item }) {
        return next.item !== this.props.item;
    }
    override render() {
        return <Line item={this.props.item} />;
    }
}

function Line({ item }: { item: Item }) {
    const active = item.state === 'hashing' || item.state === 'sending';
    const kind = { done: 'good', duplicate: 'accent', failed: 'bad', paused: 'warn', waiting: '', hashing: '', sending: '' } as const;
    return (
        <li class="upload-item">
            <div class="upload-line">
                <span class="upload-name mono">{item.name}</span>
                <Badge kind={kind[item.state]}>{text.upload.states[item.state]}</Badge>
                <span class="muted small upload-size">
                    {active ? `${bytes(item.done)} / ${bytes(item.size)}` : bytes(item.size)}
                    {item.state === 'sending' && item.speed > 0 && ` · ${bytes(item.speed)}/s`}
                </span>
                <span class="upload-actions">
                    {(active || item.state === 'waiting') && <Button kind="quiet" icon="pause" label={text.upload.pause(item.name)} onClick={() => pause(item.id)} />}
                    {item.state === 'paused' && <Button kind="quiet" icon="play" label={text.upload.resume(item.name)} onClick={() => resume(item.id)} />}
                    {item.state === 'failed' && <Button onClick={() => resume(item.id)}>{text.retry}</Button>}
                    <Button kind="quiet" icon="close" label={text.upload.remove(item.name)} onClick={() => remove(item.id)} />
                </span>
            </div>
            {active && <Progress label={text.upload.progress(item.name)} value={item.size > 0 ? item.done / item.size : 1} />}
            {item.problem && (
                <p class="error" role="alert">
                    {item.problem}
                </p>
            )}
            {item.recording && (
                <p class="small">
                    {item.state === 'duplicate' ? text.upload.storedAs : text.upload.savedAs} <a href={`/recordings/${item.recording.id}`}>{item.recording.name}</a>
                </p>
            )}
        </li>
    );
}

function parseTags(value: string): Record<string, string> | null {
    const tags: Record<string, string> = {};
    for (const part of value.split(/[\s,]+/).filter(Boolean)) {
        const at = part.indexOf('=');
        if (at <= 0 || at === part.length - 1) {
            return null;
        }
        tags[part.slice(0, at)] = part.slice(at + 1);
    }
    return tags;
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
    const items = useStore(queue);
    const fromUrl = useAddress().query.get('collection');
    const [collection, setCollection] = useState(fromUrl ?? lastCollection());
    const [tagText, setTagText] = useState('');
    const tags = parseTags(tagText);
    const add = (files: ReturnType<typeof filesFromInput>) => {
        if (tags === null || collection.trim() === '') {
            showError(new Error(tags === null ? text.details.tagForm : text.upload.noCollection)); // never upload without the intended tags
            return;
        }
        localStorage.setItem(COLLECTION_KEY, collection.trim());
        addFiles(files, collection.trim(), tags);
    };
    const [over, setOver] = useState(false);
    const drop = (event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer) {
            filesFromDrop(readDrop(event.dataTransfer)).then(add, showError);
        }
    };
    const finished = items.filter((item) => item.state === 'done' || item.state === 'duplicate').length;
    return (
        <div class="upload">
            <h1>{text.upload.title}</h1>
            <div class="upload-options">
                <Field label={text.upload.collection} value={collection} onInput={(event) => setCollection(event.currentTarget.value)} help={text.upload.collectionHelp} />
                <Field label={text.upload.tags} placeholder={text.upload.tagsExample} value={tagText} error={tags === null ? text.details.tagForm : null} onInput={(event) => setTagText(event.currentTarget.value)} help={text.upload.tagsHelp} />
            </div>
            <div class={`upload-drop ${over ? 'over' : ''}`} onDragOver={(event) => (event.preventDefault(), setOver(true))} onDragLeave={() => setOver(false)} onDrop={drop}>
                <p>{text.upload.drop}</p>
                <div class="row">
                    <Picker label={text.upload.files} onFiles={(files) => add(filesFromInput(files))} />
                    <Picker label={text.upload.folder} folder onFiles={(files) => add(filesFromInput(files))} />
                </div>
                <p class="small muted">{text.upload.help}</p>
            </div>
            {items.length > 0 && (
                <section aria-label={text.upload.list}>
                    <header class="row upload-head">
                        <h2 class="grow">{text.upload.progressOf(count(finished), count(items.length))}</h2>
                        <Button disabled={finished === 0} onClick={clearDone}>
                            {text.upload.clearFinished}
                        </Button>
                    </header>
                    <ul class="upload-items">
                        {items.map((item) => (
                            <Row key={item.id} item={item} />
                        ))}
                    </ul>
                </section>
            )}
        </div>
    );
}
