// The columns of the table of messages: the setting `columns`, and the dialog that selects them.
import { messagesText } from '../../text/panels';
import { FieldDialog } from '../plot/picker';
import { leavesOf, type Value } from './tree';

/** Paths joined by '|', which is escaped in them. A message that is a single value has the path '.' here. */
export const joinColumns = (paths: string[]): string | null =>
    paths.map((p) => p.replace(/%/g, '%25').replace(/\|/g, '%7C') || '.').join('|') || null;
export const splitColumns = (setting: string | undefined): string[] =>
    (setting ?? '')
        .split('|')
        .filter(Boolean)
        .map((p) => (p === '.' ? '' : p.replace(/%7C/g, '|').replace(/%25/g, '%')));

const FIRST_COLUMNS = 6;
/** The columns that a table has at first: the first fields of a message, without its header. */
export const firstColumns = (message: Value): string | null =>
    joinColumns(
        leavesOf(message)
            .filter((path) => !/^header(\.|$)/.test(path))
            .slice(0, FIRST_COLUMNS),
    );

export function ColumnDialog({
    message,
    loading,
    error,
    chosen,
    onChange,
    onClose,
}: {
    message: Value | undefined;
    loading: boolean;
    error: unknown;
    chosen: string[];
    onChange: (paths: string[]) => void;
    onClose: () => void;
}) {
    const found = (message === undefined ? [] : leavesOf(message)).map((path) => ({ path, unit: '' }));
    return (
        <FieldDialog
            title={messagesText.chooseColumns}
            none={messagesText.noColumns}
            found={found}
            loading={loading}
            error={error}
            chosen={chosen}
            onChange={onChange}
            onClose={onClose}
        />
    );
}
