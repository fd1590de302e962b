// The application shell: the header, the view of the current URL, notifications.
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { href, useAddress } from './address';
import { logOut, session } from './api';
import { droppedFiles } from './file_drop';
import { percent } from './format';
import { Jobs } from './jobs';
import { reachable } from './server_state';
import { hasRole, service, type Role } from './service';
import { linkKey } from './shared_link';
import { useStore } from './store';
import { text } from './text/common';
import { nextTheme, theme } from './theme';
import { CHOICES, chooseZone, zoneChoice, zoneName } from './time_zone';
import { dropToast, showError, toasts } from './toasts';
import { uploadProgress } from './upload_progress';
import { Button, EmptyState, ErrorBoundary, Menu, lazy } from './ui';
import { Library } from './views/library';
import { SearchBox } from './views/library/search_box';
import { LinkEnded, LinkNotice } from './views/link';
import { LogIn } from './views/login';

type View = ComponentType<object>;

const Recording = lazy(() => import('./views/recording'));
const Upload = lazy(() => import('./views/upload'));
const Admin = lazy(() => import('./views/admin'));
const DropSheet = lazy(() => import('./views/upload/sheet'));
const Events = lazy(() => import('./views/events'));
const Docs = lazy(() => import('./views/docs'));

function NotFound() {
    return (
        <EmptyState title={text.notFound.title} help={text.notFound.help}>
            <a href="./">{text.notFound.back}</a>
        </EmptyState>
    );
}

function viewOf(path: string): { name: string; View: View } {
    const [first, second] = path.split('/');
    if (first === '') {
        return { name: 'library', View: Library };
    }
    if (first === 'recordings' && second) {
        return { name: 'recording', View: Recording };
    }
    if (first === 'events') {
        return { name: 'events', View: Events };
    }
    if (first === 'docs') {
        return { name: 'docs', View: Docs };
    }
    if (first === 'upload') {
        return { name: 'upload', View: Upload };
    }
    return first === 'admin' ? { name: 'admin', View: Admin } : { name: 'notFound', View: NotFound };
}

function ZoneMenu() {
    const choice = useStore(zoneChoice);
    return (
        <Menu
            label={text.zone.title}
            icon="clock"
            items={CHOICES.map((one) => ({
                label: text.zone[one],
                checked: one === choice,
                run: () => chooseZone(one),
            }))}
        >
            <span class="visually-hidden">{text.zone.title}: </span>
            <span class="zone">{choice === 'recording' ? text.zone.own : zoneName()}</span>
        </Menu>
    );
}

function Header({ name, login }: { name: string; login: boolean }) {
    const { loggedIn } = useStore(session);
    const known = useStore(service);
    const now = useStore(theme);
    const views: [string, string, string, Role][] = [
        ['library', './', text.app.library, 'read'],
        ['events', 'events', text.app.events, 'read'],
        ['upload', 'upload', text.app.upload, 'upload'],
        ['admin', 'admin', text.app.admin, 'edit'],
    ];
    return (
        <header class="bar">
            <a class="brand" href={linkKey ? undefined : './'} aria-label={text.name}>
                <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
                    <rect width="32" height="32" rx="6" fill="var(--accent)" />
                    <path
                        d="M5 10h14M5 16h22M5 22h9"
                        stroke="var(--accent-ink)"
                        stroke-width="3"
                        stroke-linecap="round"
                    />
                    <path d="M21 5v22" stroke="var(--warn)" stroke-width="2.5" stroke-linecap="round" />
                </svg>
                <span class="word">{text.name}</span>
            </a>
            <nav aria-label={text.app.nav}>
                {(linkKey ? [] : views)
                    .filter(([, , , role]) => role === 'read' || hasRole(known, role) !== false)
                    .map(([key, path, label, role]) => (
                        <a
                            key={key}
                            href={path}
                            class={role !== 'read' && !known ? 'unknown' : ''}
                            aria-current={key === name ? 'page' : undefined}
                        >
                            {label}
                        </a>
                    ))}
            </nav>
            <div class="slot">{!login && !linkKey && <SearchBox />}</div>
            <div class="end">
                {linkKey && !login && <LinkNotice />}
                {known && !linkKey && known.caller.how !== 'open' && (
                    <span
                        class="caller small muted ellipsis"
                        title={text.app.caller(known.caller.name ?? '', known.caller.role)}
                    >
                        {text.app.caller(known.caller.name ?? '', known.caller.role)}
                    </span>
                )}
                {!login && !linkKey && <Uploads />}
                {!login && !linkKey && <Jobs />}
                {!linkKey && (
                    <a class="small api" href="docs" title={text.app.reference}>
                        {text.app.api}
                    </a>
                )}
                {!login && <ZoneMenu />}
                <Button
                    kind="quiet"
                    icon={now === 'auto' ? 'auto' : now === 'dark' ? 'moon' : 'sun'}
                    label={text.app.theme[now]}
                    onClick={nextTheme}
                />
                {loggedIn && !login && (
                    <Button
                        kind="quiet"
                        icon="out"
                        label={text.app.logOut}
                        onClick={() => void logOut().catch(showError)}
                    />
                )}
            </div>
        </header>
    );
}

/** The progress of the uploads, in every view. */
function Uploads() {
    const now = useStore(uploadProgress);
    return (
        now && (
            <a class="small uploads" href="upload">
                {text.uploading(now.left, percent(now.part, 1))}
            </a>
        )
    );
}

function Unreachable() {
    return <div role="alert">{!useStore(reachable) && <p class="unreachable error">{text.unreachable}</p>}</div>;
}

function Toasts() {
    return (
        <div class="toasts" role="region" aria-label={text.app.notifications} aria-live="polite">
            {useStore(toasts).map((toast) => (
                <div key={toast.id} class={`toast ${toast.kind}`} role={toast.kind === 'error' ? 'alert' : undefined}>
                    <p>{toast.message}</p>
                    {toast.action && (
                        <Button onClick={() => (dropToast(toast.id), toast.action!.run())}>{toast.action.label}</Button>
                    )}
                    <Button kind="quiet" icon="close" label={text.close} onClick={() => dropToast(toast.id)} />
                </div>
            ))}
        </div>
    );
}

export function App() {
    const { path, query } = useAddress();
    const { needed, loggedIn } = useStore(session);
    const { name, View } = viewOf(path);
    const zone = useStore(zoneChoice); // all times change with it
    const titles = text.app as Record<string, unknown>;
    useEffect(() => {
        // a view may set a more specific title
        document.title = typeof titles[name] === 'string' ? `${titles[name] as string} – ${text.name}` : text.name;
    }, [name]);
    return (
        <div class="app">
            <a class="skip" href={href(path, Object.fromEntries(query)) + '#content'}>
                {text.skip}
            </a>
            <Header name={name} login={needed} />
            <Unreachable />
            <main class="view" id="content" tabIndex={-1}>
                {needed ? (
                    linkKey ? (
                        <LinkEnded />
                    ) : (
                        <LogIn />
                    )
                ) : (
                    <ErrorBoundary key={name + String(loggedIn) + zone}>
                        <View />
                    </ErrorBoundary>
                )}
            </main>
            {useStore(droppedFiles) && !needed && <DropSheet />}
            <Toasts />
        </div>
    );
}
