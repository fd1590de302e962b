// Saved searches and the recordings that were opened last: the first sections of the filters.
import { useEffect, useRef, useState } from 'preact/hooks';
import { href, setQuery, useAddress } from '../../address';
import { forgetOpened, recent } from '../../recent';
import { useRole } from '../../service';
import { useStore } from '../../store';
import { text } from '../../text/common';
import { libraryText, savedText } from '../../text/library';
import { trainingText } from '../../text/training';
import { showError, showToast } from '../../toasts';
import { Button, Dialog, Field, lazy, Menu } from '../../ui';
import {
    deleteSearch,
    isSame,
    loadSaved,
    queryOf,
    renameSearch,
    saveSearch,
    savedSearches,
    type SavedQuery,
    type SavedSearch,
} from './saved';

const t = savedText;
const TrainingDialog = lazy(() => import('./training'));
const INITIAL = 5;

const open = (one: SavedSearch) => setQuery({ ...one.query, saved: one.name, row: null });

/** Asks for a name, and stays open until it is taken. */
function NameDialog({
    title,
    button,
    name,
    onName,
    onClose,
}: {
    title: string;
    button: string;
    name: string;
    onName: (name: string) => Promise<void>;
    onClose: () => void;
}) {
    const [typed, setTyped] = useState(name);
    const [error, setError] = useState<string | null>(null);
    const run = () =>
        onName(typed.trim()).then(onClose, (why: unknown) =>
            setError(why instanceof Error ? why.message : String(why)),
        );
    return (
        <Dialog
            title={title}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Button kind="main" disabled={!typed.trim()} onClick={() => void run()}>
                        {button}
                    </Button>
                </>
            }
        >
            <form onSubmit={(event) => (event.preventDefault(), typed.trim() && void run())}>
                <Field
                    focused
                    label={t.name}
                    value={typed}
                    maxLength={100}
                    autocomplete="off"
                    help={t.shared}
                    error={error}
                    onInput={(event) => (setTyped(event.currentTarget.value), setError(null))}
                />
            </form>
        </Dialog>
    );
}

function Row({
    one,
    current,
    changed,
    mayEdit,
}: {
    one: SavedSearch;
    current: boolean;
    changed: boolean;
    mayEdit: boolean;
}) {
    const { query } = useAddress();
    const [renaming, setRenaming] = useState(false);
    const update = () =>
        saveSearch(one.name, queryOf(query), true).then(() => showToast(t.updated(one.name)), showError);
    const remove = () =>
        deleteSearch(one.name).then(() => {
            current && setQuery({ saved: null }, true);
            showToast(t.deleted(one.name), {
                label: text.undo,
                run: () => void saveSearch(one.name, one.query, false).catch(showError),
            });
        }, showError);
    const rename = async (name: string) => {
        if (name !== one.name) {
            await renameSearch(one, name);
            current && setQuery({ saved: name }, true);
        }
    };
    return (
        <li class="library-saved">
            <a
                class="library-value"
                href={href('', { ...one.query, saved: one.name })}
                aria-current={current ? 'true' : undefined}
                title={one.query.q ?? undefined}
            >
                <span class="ellipsis">{one.name}</span>
                {current && changed && <span class="muted small">{t.changed}</span>}
            </a>
            {mayEdit && (
                <Menu
                    label={t.menu(one.name)}
                    items={[
                        ...(current && changed ? [{ label: t.update, run: () => void update() }] : []),
                        { label: t.rename, run: () => setRenaming(true) },
                        { label: t.remove, danger: true, run: () => void remove() },
                    ]}
                />
            )}
            {renaming && (
                <NameDialog
                    title={t.renameTitle}
                    button={t.renameButton}
                    name={one.name}
                    onName={rename}
                    onClose={() => setRenaming(false)}
                />
            )}
        </li>
    );
}

/**
 * A link may hold only the name: then the search is opened as it is now. Once all its terms are removed, it is no
 * longer the one that is open.
 */
function useNamed(name: string | null, now: SavedQuery, all: readonly SavedSearch[] | null) {
    const opened = useRef<string | null>(null);
    const alone = name !== null && Object.values(now).every((part) => part === null);
    const found = all?.find((one) => one.name === name);
    useEffect(() => {
        if (alone && found) {
            setQuery(opened.current === name ? { saved: null } : { ...found.query }, true);
        }
        opened.current = alone && !found ? null : name;
    }, [alone, found]);
}

export function SavedSearches() {
    const { query } = useAddress();
    const all = useStore(savedSearches);
    const mayEdit = useRole('edit', true);
    const [naming, setNaming] = useState(false);
    const [training, setTraining] = useState(false);
    const name = query.get('saved');
    const now = queryOf(query);
    const asked = now.q !== null || now.start !== null || now.end !== null;
    useEffect(() => void loadSaved().catch(() => savedSearches.set([])), []); // without them the library works as well
    useNamed(name, now, all);
    const known = all?.find((one) => one.name === name);
    if (!all || (all.length === 0 && !(asked && mayEdit))) {
        return null;
    }
    return (
        <section>
            <h2>{t.title}</h2>
            <ul>
                {all.map((one) => (
                    <Row
                        key={one.name}
                        one={one}
                        current={one === known}
                        changed={!isSame(one.query, now)}
                        mayEdit={mayEdit}
                    />
                ))}
            </ul>
            {asked && mayEdit && !(known && isSame(known.query, now)) && (
                <Button kind="quiet" icon="star" onClick={() => setNaming(true)}>
                    {t.save}
                </Button>
            )}
            {asked && mayEdit && now.where === null && (
                <Button kind="quiet" icon="download" onClick={() => setTraining(true)}>
                    {trainingText.open}
                </Button>
            )}
            {training && <TrainingDialog query={now} onClose={() => setTraining(false)} />}
            {naming && (
                <NameDialog
                    title={t.saveTitle}
                    button={libraryText.save}
                    name=""
                    onName={async (to) => {
                        await saveSearch(to, now, false);
                        open({ name: to, query: now });
                    }}
                    onClose={() => setNaming(false)}
                />
            )}
        </section>
    );
}

export function RecentlyOpened() {
    const list = useStore(recent);
    const [expanded, setExpanded] = useState(false);
    if (list.length === 0) {
        return null;
    }
    return (
        <section>
            <h2>
                {t.recent}
                <Button kind="quiet" icon="close" label={t.forget} onClick={() => forgetOpened()} />
            </h2>
            <ul>
                {list.slice(0, expanded ? list.length : INITIAL).map((one) => (
                    <li key={one.id}>
                        <a
                            class="library-value"
                            href={href(`recordings/${one.id}`)}
                            title={`${one.collection}/${one.name}`}
                        >
                            <span class="ellipsis">{one.name}</span>
                        </a>
                    </li>
                ))}
            </ul>
            {!expanded && list.length > INITIAL && (
                <Button kind="quiet" onClick={() => setExpanded(true)}>
                    {libraryText.moreValues}
                </Button>
            )}
        </section>
    );
}
