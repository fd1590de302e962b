// What the server says about itself and about the caller: names of formats, the caller's role. Loaded at the start and
// after each login.
import { get, session } from './api';
import { Store, useStore } from './store';
import { text } from './text/common';
import type { ServiceDocument } from './types';

/** undefined: being loaded; null: could not be loaded. */
export type Service = ServiceDocument | null | undefined;
export const service = new Store<Service>(undefined);
const ROLES = ['read', 'upload', 'edit', 'admin'] as const;
export type Role = (typeof ROLES)[number];

async function load(): Promise<void> {
    const before = session.get();
    const found = await get<ServiceDocument>('').catch(() => null); // the view reports why the server does not answer
    if (before === session.get()) {
        service.set(found && 'caller' in found ? found : null);
    }
}
export function startService(): void {
    void load();
    session.subscribe(({ needed }) => {
        service.set(undefined);
        if (!needed) {
            void load();
        }
    });
}

/**
 * Whether the caller has this role, or a higher one; null: not known. `whole`: and is not limited to some collections.
 */
export function hasRole(document: Service, role: Role, whole = false): boolean | null {
    return !document
        ? null
        : ROLES.indexOf(document.caller.role) >= ROLES.indexOf(role) &&
              (!whole || document.caller.collections === null);
}
/** The same for components. What is not known yet is not offered. */
export function useRole(role: Role, whole = false): boolean {
    return hasRole(useStore(service), role, whole) === true;
}

/** Why the caller may not do this; null: it may, or that is not known. */
export function refusal(document: Service, role: Role, whole = false): { title: string; help: string } | null {
    if (hasRole(document, role, whole) !== false) {
        return null;
    }
    const { name, role: own } = document!.caller;
    return hasRole(document, role)
        ? { title: text.role.limited, help: text.role.whole }
        : { title: text.role.title(role), help: text.role.help(name ?? '', own) };
}

/** The name of a format for people: "ROS 1 bag (2.0)" for rosbag-2.0. */
export function formatTitle(document: Service, name: string): string {
    return document?.formats.find((format) => format.name === name)?.title ?? name;
}
