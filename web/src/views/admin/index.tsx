// Administration: one section at a time, named in the URL.
import type { ComponentType } from 'preact';
import { go, useAddress } from '../../address';
import { refusal, service, type Role } from '../../service';
import { useStore } from '../../store';
import { text } from '../../text';
import { EmptyState, ErrorBoundary, Select, Spinner } from '../../ui';
import { Audit } from './audit';
import { Failures, Watches } from './imports';
import { Jobs } from './jobs';
import { Storage } from './storage';
import { Tokens } from './tokens';

/** name, title, view, role, whether it concerns the whole server */
const SECTIONS: [string, string, ComponentType, Role, boolean][] = [
    ['storage', text.admin.storage.title, Storage, 'edit', false],
    ['jobs', text.admin.jobs.title, Jobs, 'edit', false],
    ['failures', text.admin.failures.title, Failures, 'edit', false],
    ['watches', text.admin.watches.title, Watches, 'edit', false],
    ['tokens', text.admin.tokens.title, Tokens, 'admin', true],
    ['audit', text.admin.audit.title, Audit, 'admin', true],
];

export default function Admin() {
    const { path } = useAddress();
    const requested = path.split('/')[1] || 'storage';
    const known = useStore(service);
    const [name, title, Section, role, whole] = SECTIONS.find(([key]) => key === requested) ?? SECTIONS[0]!;
    const refused = refusal(known, role, whole);
    const offered = SECTIONS.filter(([key, , , needed, all]) => key === name || refusal(known, needed, all) === null);
    if (known === undefined) {
        return <Spinner />; // what the caller may not see is not asked for
    }
    return (
        <div class="admin">
            <nav class="admin-nav" aria-label={text.admin.title}>
                {offered.map(([key, label]) => (
                    <a key={key} href={`admin/${key}`} aria-current={key === name ? 'page' : undefined}>
                        {label}
                    </a>
                ))}
            </nav>
            <div class="admin-choice">
                <Select label={text.admin.title} hidden_label value={name} options={offered.map(([key, label]) => [key, label])} onChange={(key) => go(`admin/${key}`)} />
            </div>
            <div class="admin-section">
                <h1>{title}</h1>
                {refused ? (
                    <EmptyState {...refused} />
                ) : (
                    <ErrorBoundary key={name}>
                        <Section />
                    </ErrorBoundary>
                )}
            </div>
        </div>
    );
}
