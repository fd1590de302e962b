// Upload: choose or drop files and folders; each is hashed, sent with resume, and linked when it is there.
import { Component } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAddress } from '../../address';
import { droppedOf } from '../../drops';
import { bytes, count } from '../../format';
import { useStore } from '../../store';
import { text } from '../../text';
import { showError } from '../../toasts';
import { Badge, Button, Field, Progress } from '../../ui';
import { COLLECTION_KEY, lastCollection } from './anywhere';
import { filesOf, filesOfInput } from './dropped';
import { addFiles, clearDone, pause, queue, remove, resume, type Item } from './queue';

/** Drawn anew only when its own item has changed: there may be thousands, and each says how far it is many times a second. */
class Row extends Component<{ item: Item }> {
    override shouldComponentUpdate(next: { item: Item }) {
        return next.item !== this.props.item;
    }
    override render() {
        return <Line item={this.props.item} />;
    }
}

function Line({ item }: { item: Item }) {
    const going = item.state === 'hashing' || item.state === 'sending';
    const kind = { done: 'good', duplicate: 'accent', failed: 'bad', paused: 'warn', waiting: '', hashing: '', sending: '' } as const;
    return (
        <li class="upload-item">
            <div class="upload-line">
                <span class="upload-name mono">{item.name}</span>
                <Badge kind={kind[item.state]}>{text.upload.states[item.state]}</Badge>
                <span class="soft small upload-size">
                    {going ? `${bytes(item.done)} / ${bytes(item.size)}` : bytes(item.size)}
                    {item.state === 'sending' && item.speed > 0 && ` · ${bytes(item.speed)}/s`}
                </span>
                <span class="upload-actions">
                    {(going || item.state === 'waiting') && <Button kind="quiet" icon="pause" label={text.upload.pause(item.name)} onClick={() => pause(item.id)} />}
                    {item.state === 'paused' && <Button kind="quiet" icon="play" label={text.upload.resume(item.name)} onClick={() => resume(item.id)} />}
                    {item.state === 'failed' && <Button onClick={() => resume(item.id)}>{text.retry}</Button>}
                    <Button kind="quiet" icon="close" label={text.upload.remove(item.name)} onClick={() => remove(item.id)} />
                </span>
            </div>
            {going && <Progress label={text.upload.progress(item.name)} value={item.size > 0 ? item.done / item.size : 1} />}
            {item.problem && (
                <p class="error" role="alert">
                    {item.problem}
                </p>
            )}
            {item.recording && (
                <p class="small">
                    {item.state === 'duplicate' ? text.upload.isThere : text.upload.became} <a href={`/recordings/${item.recording.id}`}>{item.recording.name}</a>
                </p>
            )}
        </li>
    );
}

function tagsOf(words: string): Record<string, string> | null {
    const tags: Record<string, string> = {};
    for (const part of words.split(/[\s,]+/).filter(Boolean)) {
        const at = part.indexOf('=');
        if (at <= 0 || at === part.length - 1) {
            return null;
        }
        tags[part.slice(0, at)] = part.slice(at + 1);
    }
    return tags;
}

function Picker({ label, folder, take }: { label: string; folder?: boolean; take: (files: FileList) => void }) {
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
                        take(files);
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
    const asked = useAddress().query.get('collection');
    const [collection, setCollection] = useState(asked ?? lastCollection());
    const [words, setWords] = useState('');
    const tags = tagsOf(words);
    const add = (files: ReturnType<typeof filesOfInput>) => {
        if (tags === null || collection.trim() === '') {
            showError(new Error(tags === null ? text.about.tagForm : text.upload.noCollection)); // never without the tags that were meant
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
            filesOf(droppedOf(event.dataTransfer)).then(add, showError);
        }
    };
    const finished = items.filter((item) => item.state === 'done' || item.state === 'duplicate').length;
    return (
        <div class="upload">
            <h1>{text.upload.title}</h1>
            <div class="upload-wishes">
                <Field label={text.upload.collection} value={collection} onInput={(event) => setCollection(event.currentTarget.value)} help={text.upload.collectionHelp} />
                <Field label={text.upload.tags} placeholder={text.upload.tagsExample} value={words} error={tags === null ? text.about.tagForm : null} onInput={(event) => setWords(event.currentTarget.value)} help={text.upload.tagsHelp} />
            </div>
            <div class={`upload-drop ${over ? 'over' : ''}`} onDragOver={(event) => (event.preventDefault(), setOver(true))} onDragLeave={() => setOver(false)} onDrop={drop}>
                <p>{text.upload.drop}</p>
                <div class="row">
                    <Picker label={text.upload.files} take={(files) => add(filesOfInput(files))} />
                    <Picker label={text.upload.folder} folder take={(files) => add(filesOfInput(files))} />
                </div>
                <p class="small soft">{text.upload.help}</p>
            </div>
            {items.length > 0 && (
                <section aria-label={text.upload.list}>
                    <header class="row upload-head">
                        <h2 class="grow">{text.upload.of(count(finished), count(items.length))}</h2>
                        <Button disabled={finished === 0} onClick={clearDone}>
                            {text.upload.clear}
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
