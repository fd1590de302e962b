// Administration: one section at a time, named in the URL.
import type { ComponentType } from 'preact';
import { useAddress } from '../../address';
import { text } from '../../text';
import { ErrorBoundary } from '../../ui';
import { Audit } from './audit';
import { Failures, Watches } from './imports';
import { Jobs } from './jobs';
import { Storage } from './storage';
import { Tokens } from './tokens';

const SECTIONS: [string, string, ComponentType][] = [
    ['storage', text.admin.storage.title, Storage],
    ['jobs', text.admin.jobs.title, Jobs],
    ['failures', text.admin.failures.title, Failures],
    ['watches', text.admin.watches.title, Watches],
    ['tokens', text.admin.tokens.title, Tokens],
    ['audit', text.admin.audit.title, Audit],
];

export default function Admin() {
    const { path } = useAddress();
    const requested = path.split('/')[2] || 'storage';
    const [name, title, Section] = SECTIONS.find(([key]) => key === requested) ?? SECTIONS[0]!;
    return (
        <div class="admin">
            <nav class="admin-nav" aria-label={text.admin.title}>
                {SECTIONS.map(([key, label]) => (
                    <a key={key} href={`/admin/${key}`} aria-current={key === name ? 'page' : undefined}>
                        {label}
                    </a>
                ))}
            </nav>
            <div class="admin-section">
                <h1>{title}</h1>
                <ErrorBoundary key={name}>
                    <Section />
                </ErrorBoundary>
            </div>
        </div>
    );
}
