// The API reference, rendered from /openapi.json. The URL selects: ?op=listRecordings, ?schema=Recording, ?search=text.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { href, setQuery, useAddress } from '../../address';
import { getContract } from '../../api';
import { docsText } from '../../text/docs';
import { EmptyState, Failed, Field, Spinner } from '../../ui';
import { entriesOf, type Contract, type Entry } from './contract';
import { OperationOf } from './operation';
import { Members } from './schema';

function useContract() {
    const [contract, setContract] = useState<Contract | null>(null);
    const [error, setError] = useState<unknown>(null);
    const [tries, setTries] = useState(0);
    useEffect(() => {
        const stop = new AbortController();
        setError(null);
        getContract<Contract>(stop.signal).then(setContract, (failed) => !stop.signal.aborted && setError(failed));
        return () => stop.abort();
    }, [tries]);
    return { contract, error, reload: () => setTries(tries + 1) };
}

/** Renders **strong** and `code`; everything else is text. */
function Markup({ source }: { source: string }) {
    const parts = source.split(/(\*\*[^*]+\*\*|`[^`]+`)/);
    return (
        <>
            {parts.map((part): ComponentChildren =>
                part.startsWith('**') ? (
                    <strong>{part.slice(2, -2)}</strong>
                ) : part.startsWith('`') ? (
                    <code>{part.slice(1, -1)}</code>
                ) : (
                    part
                ),
            )}
        </>
    );
}

function Introduction({ contract }: { contract: Contract }) {
    return (
        <article>
            <h1>{docsText.title(contract.info.title, contract.info.version)}</h1>
            {contract.info.description
                .trim()
                .split(/\n\n+/)
                .map((paragraph) => (
                    <p>
                        <Markup source={paragraph} />
                    </p>
                ))}
            <p>
                <a href="openapi.json" download>
                    {docsText.download}
                </a>
            </p>
            <p class="small">
                <a href={document.querySelector<HTMLLinkElement>('link[rel=license]')?.href}>{docsText.licences}</a>
            </p>
        </article>
    );
}

function matches(entry: Entry, search: string): boolean {
    const all = `${entry.method} ${entry.path} ${entry.operation.summary} ${entry.operation.operationId}`.toLowerCase();
    return search
        .toLowerCase()
        .split(/\s+/)
        .every((word) => all.includes(word));
}

function Group({ name, help, entries, open }: { name: string; help: string; entries: Entry[]; open: string | null }) {
    return (
        <section>
            <h2 title={help}>{name}</h2>
            <ul>
                {entries.map(({ method, path, operation }) => (
                    <li key={operation.operationId}>
                        <a
                            href={href('docs', { op: operation.operationId })}
                            aria-current={operation.operationId === open ? 'page' : undefined}
                            title={`${method} ${path}`}
                        >
                            <code class={`docs-method ${method}`}>{method}</code>
                            <span>{operation.summary}</span>
                        </a>
                    </li>
                ))}
            </ul>
        </section>
    );
}

function List({
    contract,
    entries,
    open,
    find,
}: {
    contract: Contract;
    entries: Entry[];
    open: string | null;
    find: string;
}) {
    const found = entries.filter((entry) => matches(entry, find));
    const names = Object.keys(contract.components.schemas).filter(
        (name) => find !== '' && name.toLowerCase().includes(find.toLowerCase()),
    );
    return (
        <nav class="docs-list" aria-label={docsText.list}>
            <Field
                label={docsText.find}
                hidden_label
                type="search"
                placeholder={docsText.find}
                value={find}
                onInput={(event) => setQuery({ search: event.currentTarget.value }, true)}
            />
            {contract.tags.map((tag) => {
                const some = found.filter((entry) => entry.operation.tags.includes(tag.name));
                return (
                    some.length > 0 && (
                        <Group key={tag.name} name={tag.name} help={tag.description} entries={some} open={open} />
                    )
                );
            })}
            {names.length > 0 && (
                <section>
                    <h2>{docsText.schemas}</h2>
                    <ul>
                        {names.map((name) => (
                            <li key={name}>
                                <a href={href('docs', { schema: name })}>
                                    <code>{name}</code>
                                </a>
                            </li>
                        ))}
                    </ul>
                </section>
            )}
            {found.length + names.length === 0 && <p class="muted">{docsText.noMatch}</p>}
        </nav>
    );
}

function Shown({
    contract,
    entries,
    op,
    schema,
}: {
    contract: Contract;
    entries: Entry[];
    op: string | null;
    schema: string | null;
}) {
    const entry = entries.find((one) => one.operation.operationId === op);
    const named = schema ? contract.components.schemas[schema] : undefined;
    if (entry) {
        return <OperationOf contract={contract} entry={entry} />;
    }
    if (named) {
        return (
            <article>
                <h1 class="mono">{schema}</h1>
                {named.description && <p>{named.description}</p>}
                <Members schema={named} />
            </article>
        );
    }
    return op || schema ? <EmptyState title={docsText.notFound} /> : <Introduction contract={contract} />;
}

export default function Docs() {
    const { contract, error, reload } = useContract();
    const { query } = useAddress();
    if (!contract) {
        return <div class="empty">{error ? <Failed error={error} retry={reload} /> : <Spinner />}</div>;
    }
    const [op, schema] = [query.get('op'), query.get('schema')];
    const entries = entriesOf(contract);
    const find = query.get('search') ?? '';
    return (
        <div class={`docs ${op || schema ? 'docs-open' : find ? 'docs-searching' : ''}`}>
            <List contract={contract} entries={entries} open={op} find={find} />
            <div class="docs-shown" key={op ?? schema ?? ''}>
                {(op || schema) && (
                    <a class="docs-back" href="docs">
                        {docsText.back}
                    </a>
                )}
                <Shown contract={contract} entries={entries} op={op} schema={schema} />
            </div>
        </div>
    );
}
