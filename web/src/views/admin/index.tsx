// Administration: one section at a time, named in the URL. The sections are grouped by what they are about.
import type { ComponentType } from 'preact';
import { go, useAddress } from '../../address';
import { refusal, service, type Role } from '../../service';
import { useStore } from '../../store';
import { adminText } from '../../text/admin';
import { EmptyState, ErrorBoundary, Spinner } from '../../ui';
import { Audit } from './audit';
import { Failures } from './failures';
import { Imports, Watches } from './imports';
import { Jobs } from './jobs';
import { Links } from './links';
import { Live } from './live';
import { Maintenance } from './maintenance';
import { Monitoring } from './monitoring';
import { Retention } from './retention';
import { Storage } from './storage';
import { Tokens } from './tokens';
import { Webhooks } from './webhooks';

interface Section {
    name: keyof typeof adminText & string;
    title: string;
    View: ComponentType;
    role: Role;
    whole?: boolean; // it concerns the whole server
}
const t = adminText;
const GROUPS: { title: string; sections: Section[] }[] = [
    {
        title: t.groups.data,
        sections: [
            { name: 'storage', title: t.storage.title, View: Storage, role: 'edit' },
            { name: 'retention', title: t.retention.title, View: Retention, role: 'admin', whole: true },
            { name: 'live', title: t.live.title, View: Live, role: 'edit' },
        ],
    },
    {
        title: t.groups.work,
        sections: [
            { name: 'jobs', title: t.jobs.title, View: Jobs, role: 'edit' },
            { name: 'imports', title: t.imports.title, View: Imports, role: 'edit' },
            { name: 'watches', title: t.watches.title, View: Watches, role: 'edit' },
            { name: 'failures', title: t.failures.title, View: Failures, role: 'edit' },
        ],
    },
    {
        title: t.groups.access,
        sections: [
            { name: 'tokens', title: t.tokens.title, View: Tokens, role: 'admin', whole: true },
            { name: 'links', title: t.links.title, View: Links, role: 'edit' },
            { name: 'audit', title: t.audit.title, View: Audit, role: 'admin', whole: true },
        ],
    },
    {
        title: t.groups.system,
        sections: [
            { name: 'webhooks', title: t.webhooks.title, View: Webhooks, role: 'admin', whole: true },
            { name: 'maintenance', title: t.maintenance.title, View: Maintenance, role: 'admin', whole: true },
            { name: 'monitoring', title: t.monitoring.title, View: Monitoring, role: 'edit' },
        ],
    },
];
const SECTIONS = GROUPS.flatMap(({ sections }) => sections);

export default function Admin() {
    const requested = useAddress().path.split('/')[1];
    const known = useStore(service);
    const shown = SECTIONS.find(({ name }) => name === requested) ?? SECTIONS[0]!;
    if (known === undefined) {
        return <Spinner />; // what the caller may not see is not asked for
    }
    const refused = refusal(known, shown.role, shown.whole);
    const groups = GROUPS.map(({ title, sections }) => ({
        title,
        sections: sections.filter((one) => one === shown || refusal(known, one.role, one.whole) === null),
    })).filter(({ sections }) => sections.length > 0);
    return (
        <div class="admin">
            <nav class="admin-nav" aria-label={t.title}>
                {groups.map((group) => (
                    <div key={group.title} role="group" aria-label={group.title}>
                        <p aria-hidden="true">{group.title}</p>
                        {group.sections.map(({ name, title }) => (
                            <a
                                key={name}
                                href={`admin/${name}`}
                                aria-current={name === shown.name ? 'page' : undefined}
                            >
                                {title}
                            </a>
                        ))}
                    </div>
                ))}
            </nav>
            <div class="admin-choice">
                <select
                    aria-label={t.title}
                    value={shown.name}
                    onChange={(event) => go(`admin/${event.currentTarget.value}`)}
                >
                    {groups.map((group) => (
                        <optgroup key={group.title} label={group.title}>
                            {group.sections.map(({ name, title }) => (
                                <option key={name} value={name}>
                                    {title}
                                </option>
                            ))}
                        </optgroup>
                    ))}
                </select>
            </div>
            <div class="admin-section">
                <h1>{shown.title}</h1>
                {refused ? (
                    <EmptyState {...refused} />
                ) : (
                    <ErrorBoundary key={shown.name}>
                        <shown.View />
                    </ErrorBoundary>
                )}
            </div>
        </div>
    );
}
