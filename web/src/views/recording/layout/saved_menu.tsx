// The menu of the collection's layouts: apply, save, manage, reset.
import { useState } from 'preact/hooks';
import { useAddress } from '../../../address';
import { useRole } from '../../../service';
import { text } from '../../../text/common';
import { savedLayoutText } from '../../../text/layout';
import { detailsText } from '../../../text/recording';
import { showError, showToast } from '../../../toasts';
import { useRequest } from '../../../use_request';
import { Button, Check, Dialog, Field, Menu, type MenuItem } from '../../../ui';
import type { Source } from './frame';
import {
    applyLayout,
    currentLayout,
    deleteLayout,
    leftOut,
    loadLayouts,
    openAtFirst,
    renameLayout,
    resetLayout,
    saveLayout,
    type SavedLayout,
} from './saved';

interface DialogProps {
    sources: Source[];
    layouts: SavedLayout[];
    loading: boolean;
    reload: () => void;
    onClose: () => void;
}

function SaveDialog({ sources, layouts, reload, onClose }: DialogProps) {
    const { collection } = sources[0]!.recording;
    const [name, setName] = useState('');
    const [opened, setOpened] = useState(false);
    const [busy, setBusy] = useState(false);
    const known = layouts.find((one) => one.name === name.trim());
    const save = async () => {
        setBusy(true);
        try {
            const value = { ...currentLayout(sources), opened };
            await saveLayout(collection, { name: name.trim(), value }, !known);
            if (opened) {
                await openAtFirst(
                    collection,
                    layouts.filter((one) => one !== known),
                    name.trim(),
                );
            }
            showToast(savedLayoutText.saved(name.trim()));
            onClose();
        } catch (error) {
            showError(error);
        }
        setBusy(false);
        reload();
    };
    return (
        <Dialog
            title={savedLayoutText.save}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Button kind="main" type="submit" form="layout-save" disabled={busy || name.trim() === ''}>
                        {known ? savedLayoutText.replace : detailsText.save}
                    </Button>
                </>
            }
        >
            <form
                id="layout-save"
                class="layout-form"
                onSubmit={(event) => (event.preventDefault(), name.trim() !== '' && void save())}
            >
                <Field
                    focused
                    label={savedLayoutText.name}
                    value={name}
                    maxLength={200}
                    help={known ? savedLayoutText.known : savedLayoutText.help(collection)}
                    onInput={(event) => setName(event.currentTarget.value)}
                />
                <Check label={savedLayoutText.openedWith(collection)} checked={opened} onChange={setOpened} />
            </form>
        </Dialog>
    );
}

function Row({
    layout,
    layouts,
    collection,
    busy,
    act,
}: {
    layout: SavedLayout;
    layouts: SavedLayout[];
    collection: string;
    busy: boolean;
    act: (work: Promise<void>) => void;
}) {
    const [name, setName] = useState<string | null>(null);
    const t = savedLayoutText;
    const remove = async () => {
        await deleteLayout(collection, layout.name);
        showToast(t.removed(layout.name), { label: text.undo, run: () => act(saveLayout(collection, layout, true)) });
    };
    if (name !== null) {
        const taken = name.trim() !== layout.name && layouts.some((one) => one.name === name.trim());
        const rename = () => {
            if (name.trim() !== layout.name) {
                act(renameLayout(collection, layout, name.trim()));
            }
            setName(null);
        };
        return (
            <form class="row" onSubmit={(event) => (event.preventDefault(), !taken && name.trim() !== '' && rename())}>
                <Field
                    focused
                    class="grow"
                    label={t.name}
                    hidden_label
                    value={name}
                    maxLength={200}
                    error={taken ? t.taken : null}
                    onInput={(event) => setName(event.currentTarget.value)}
                />
                <Button type="submit" kind="main" disabled={taken || name.trim() === ''}>
                    {detailsText.save}
                </Button>
                <Button onClick={() => setName(null)}>{text.cancel}</Button>
            </form>
        );
    }
    return (
        <div class="row">
            <span class="grow ellipsis" title={layout.name}>
                {layout.name}
            </span>
            <Button
                pressed={layout.value.opened}
                disabled={busy}
                title={t.openedWith(collection)}
                onClick={() => act(openAtFirst(collection, layouts, layout.value.opened ? null : layout.name))}
            >
                {t.opened}
            </Button>
            <Button
                kind="quiet"
                icon="edit"
                disabled={busy}
                label={t.rename(layout.name)}
                onClick={() => setName(layout.name)}
            />
            <Button
                kind="quiet"
                icon="trash"
                disabled={busy}
                label={t.remove(layout.name)}
                onClick={() => act(remove())}
            />
        </div>
    );
}

function ManageDialog({ sources, layouts, loading, reload, onClose }: DialogProps) {
    const { collection } = sources[0]!.recording;
    const [acting, setActing] = useState(false);
    const act = (work: Promise<void>) => {
        setActing(true);
        void work.catch(showError).finally(() => (reload(), setActing(false)));
    };
    return (
        <Dialog title={savedLayoutText.ofCollection(collection)} onClose={onClose}>
            <ul class="layout-saved">
                {layouts.map((layout) => (
                    <li key={layout.name}>
                        <Row
                            layout={layout}
                            layouts={layouts}
                            collection={collection}
                            busy={acting || loading}
                            act={act}
                        />
                    </li>
                ))}
            </ul>
            {layouts.length === 0 && <p class="muted">{savedLayoutText.none}</p>}
        </Dialog>
    );
}

export function SavedLayouts({ sources }: { sources: Source[] }) {
    useAddress(); // the layout that is shown is checked
    const { recording } = sources[0]!;
    const loaded = useRequest((signal) => loadLayouts(recording.collection, signal), [recording.collection]);
    const mayEdit = useRole('edit');
    const [dialog, setDialog] = useState<'save' | 'manage' | null>(null);
    const t = savedLayoutText;
    const layouts = loaded.value ?? [];
    const now = currentLayout(sources);
    const isShown = ({ value }: SavedLayout) =>
        value.panels === now.panels && JSON.stringify(value.settings) === JSON.stringify(now.settings);
    const apply = (layout: SavedLayout) => {
        applyLayout(recording, layout, true);
        const out = leftOut(sources, layout);
        if (out.length > 0) {
            showToast(t.leftOut(out.join(', ')));
        }
    };
    const items: MenuItem[] = layouts.map((layout) => ({
        label: layout.name,
        checked: isShown(layout),
        run: () => apply(layout),
    }));
    if (mayEdit) {
        items.push({ label: t.saveAs, icon: 'plus', run: () => setDialog('save') });
        items.push({
            label: t.manage,
            icon: 'settings',
            disabled: layouts.length === 0,
            run: () => setDialog('manage'),
        });
    }
    items.push({ label: t.reset, icon: 'back', run: () => resetLayout(recording, layouts) });
    const props = { sources, layouts, loading: loaded.loading, reload: loaded.reload, onClose: () => setDialog(null) };
    return (
        <>
            <Menu label={t.title} kind="plain" icon="layout" items={items}>
                {t.title}
            </Menu>
            {dialog === 'save' && <SaveDialog {...props} />}
            {dialog === 'manage' && <ManageDialog {...props} />}
        </>
    );
}
