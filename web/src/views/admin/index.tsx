// Administration: one section at a time, named in the address.
import type { ComponentType } from 'preact';
import { useAddress } from '../../address';
import { text } from '../../text';
import { Guard } from '../../ui';
import { Failures, Watches } from './intake';
import { Audit, Jobs } from './log';
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
    const asked = path.split('/')[2] || 'storage';
    const [name, title, Section] = SECTIONS.find(([key]) => key === asked) ?? SECTIONS[0]!;
    return (
        <div class="admin">
            <nav class="admin-nav" aria-label={text.admin.title}>
                {SECTIONS.map(([key, words]) => (
                    <a key={key} href={`/admin/${key}`} aria-current={key === name ? 'page' : undefined}>
                        {words}
                    </a>
                ))}
            </nav>
            <div class="admin-section">
                <h1>{title}</h1>
                <Guard key={name}>
                    <Section />
                </Guard>
            </div>
        </div>
    );
}
