// A plain HTML table for short lists.
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
    title: string;
    right?: boolean;
    cell: (row: Row) => ComponentChildren;
}

export function SimpleTable<Row>({ caption, columns, rows, empty }: { caption: string; columns: Column<Row>[]; rows: Row[]; empty: string }) {
    if (rows.length === 0) {
        return <p class="muted">{empty}</p>;
    }
    return (
        <div class="admin-scroll" tabIndex={0} role="region" aria-label={caption}>
            <table class="plain-table">
                <caption class="visually-hidden">{caption}</caption>
                <thead>
                    <tr>
                        {columns.map((c, i) =>
                            c.title ? (
                                <th key={i} scope="col" class={c.right ? 'right' : ''}>
                                    {c.title}
                                </th>
                            ) : (
                                <td key={i} />
                            ),
                        )}
                    </tr>
                </thead>
                <tbody>
                    {rows.map((row, n) => (
                        <tr key={n}>
                            {columns.map((c, i) => (
                                <td key={i} class={c.right ? 'right' : ''}>
                                    {c.cell(row)}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
