// Where uploaded files go: the collection and the tags. Shared by the upload view and the sheet that a drop elsewhere
// opens.
import { useId, useState } from 'preact/hooks';
import { get } from '../../api';
import { service } from '../../service';
import { uploadText } from '../../text/upload';
import type { Values } from '../../types';
import { Field } from '../../ui';
import { useRequest } from '../../use_request';
import { parseTags } from './tags';

const t = uploadText;
const COLLECTION_KEY = 'reel.collection';
/** The last one, or the first that the token is limited to. */
function defaultCollection(): string {
    const own = service.get()?.caller.collections?.find((glob) => !/[*?]/.test(glob));
    return localStorage.getItem(COLLECTION_KEY) ?? own ?? 'default';
}

export interface Options {
    collection: string;
    tags: Record<string, string>;
}
export interface OptionsForm {
    collection: string;
    setCollection: (collection: string) => void;
    tagText: string;
    setTagText: (tags: string) => void;
    options: Options | null; // null: something is missing or wrong
}

export function useOptions(preset: string | null): OptionsForm {
    const [collection, setCollection] = useState(preset ?? defaultCollection());
    const [tagText, setTagText] = useState('');
    const tags = parseTags(tagText);
    const name = collection.trim();
    return {
        collection,
        setCollection,
        tagText,
        setTagText,
        options: tags && name ? { collection: name, tags } : null,
    };
}

export function rememberCollection(collection: string): void {
    localStorage.setItem(COLLECTION_KEY, collection);
}

export function OptionFields({ form, focus }: { form: OptionsForm; focus?: boolean }) {
    const list = useId();
    const known = useRequest((signal) => get<Values>('/values', { field: 'collection', limit: 200 }, signal), []).value;
    return (
        <div class="upload-options">
            <Field
                label={t.collection}
                value={form.collection}
                list={list}
                focused={focus}
                autocomplete="off"
                error={form.collection.trim() ? null : t.noCollection}
                onInput={(event) => form.setCollection(event.currentTarget.value)}
                help={t.collectionHelp}
            />
            <datalist id={list}>
                {(known?.items ?? []).map((item) => (
                    <option key={item.value} value={item.value} />
                ))}
            </datalist>
            <Field
                label={t.tags}
                placeholder={t.tagsExample}
                value={form.tagText}
                autocomplete="off"
                error={parseTags(form.tagText) ? null : t.tagForm}
                onInput={(event) => form.setTagText(event.currentTarget.value)}
                help={t.tagsHelp}
            />
        </div>
    );
}
