// Every text that users read is in this folder, one file per view and one for all panels. Names of formats and topics
// come from the server. Style: sentence case, short, active. Here: the frame of the page, and what several views share.
import { count } from '../format';

export const plural = (n: number, one: string, many: string) => `${count(n)} ${n === 1 ? one : many}`;

/** The label of a value the server sent, or the value itself if it is not known here. */
export const labelOf = (labels: Record<string, string>, value: string): string => labels[value] ?? value;

export const text = {
    name: 'Reel',
    noAnswer: 'The server is not responding. Check that it is running and that you are connected.',
    httpError: (status: number) => `The server returned error ${status}.`,
    retry: 'Try again',
    close: 'Close',
    cancel: 'Cancel',
    undo: 'Undo',
    loading: 'Loading…',
    copied: 'Copied',
    cannotCopy: (value: string) => `Your browser blocked access to the clipboard. Copy this yourself: ${value}`,
    menu: 'More',
    zone: {
        title: 'Time zone',
        utc: 'UTC',
        local: 'Local time of this computer',
        recording: 'Each recording’s own (its tag timezone), otherwise UTC',
        own: 'own zone',
        in: (title: string, zone: string) => `${title} (${zone})`,
    },
    moreItems: (n: number) => `${count(n)} more`,
    skip: 'Skip to content',
    typeToConfirm: (word: string) => `Type ${word} to confirm`,
    app: {
        nav: 'Main navigation',
        library: 'Library',
        upload: 'Upload',
        admin: 'Administration',
        search: 'Search recordings',
        theme: { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' },
        logOut: 'Log out',
        caller: (name: string, role: string) => `${name} (${role})`,
        notifications: 'Notifications',
    },
    jobs: {
        running: (n: number) => plural(n, 'job', 'jobs'),
        title: (kind: string, subject: string) => (subject ? `${kind}: ${subject}` : kind),
        cancel: (title: string) => `Cancel ${title}`,
        kinds: {
            scan: 'Scan',
            plan: 'Preparing data',
            import: 'Import',
            scrub: 'Integrity check',
            backup: 'Backup',
            retention: 'Retention',
            manifests: 'Manifests',
            references: 'Reference check',
            sweep: 'Cleanup',
            'watched-folder': 'Watched folder',
            files: 'File check',
            expiry: 'Expired uploads',
            webhook: 'Webhook',
            batch: 'Changes',
        } as Record<string, string>,
        states: {
            queued: 'Queued',
            running: 'Running',
            done: 'Done',
            failed: 'Failed',
            cancelled: 'Cancelled',
        } as Record<string, string>,
    },
    role: {
        title: (role: string) => `This needs the role ${role}`,
        help: (name: string, role: string) =>
            `You are logged in as ${name}, with the role ${role}. Ask your administrator for another token.`,
        limited: 'This needs a token for all collections',
        whole: 'Your token is limited to some collections. This concerns the whole server.',
    },
    crashed: {
        title: 'Something went wrong',
        help: 'This part of the page stopped working. Reload the page. If the problem persists, report the error below to your administrator.',
        reload: 'Reload',
    },
    notFound: {
        title: 'Page not found',
        help: 'Check the address, or go back to the library.',
        back: 'Back to library',
    },
    login: {
        title: 'Log in',
        help: 'Enter your access token. You stay logged in for 30 days, or until you log out.',
        token: 'Token',
        button: 'Log in',
        ended: 'Your session has ended. Log in again.',
        invalid: 'Invalid token. Check that you copied all of it, or ask your administrator for a new one.',
        checking: 'Logging in…',
    },
    state: {
        recording: 'Recording',
        scanning: 'Scanning…',
        ready: 'Ready',
        failed: 'Failed',
        missing: 'Missing',
        changed: 'Changed',
        trashed: 'In trash',
    } as Record<string, string>,
    stateHelp: {
        recording: 'Messages are being appended to this recording.',
        scanning: 'The recording is being scanned.',
        failed: 'The recording could not be read.',
        missing: 'The file no longer exists.',
        changed: 'The file has changed since it was imported.',
        trashed: 'The recording is in the trash.',
    } as Record<string, string>,
    damaged: 'Damaged',
    recordings: (n: number) => plural(n, 'recording', 'recordings'),
    link: {
        readOnly: 'Read-only link',
        until: (time: string) => `Read-only link until ${time}`,
        ended: 'This link no longer works',
        endedHelp: 'It has expired, was revoked or is incomplete. Ask the person who sent it for a new one.',
        logIn: 'Log in to the archive instead',
    },
};
