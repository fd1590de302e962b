// A schema: its properties and types, with links to named schemas.
import { href } from '../../address';
import { docsText } from '../../text/docs';
import { factsOf, nameOf, type Schema } from './contract';

/** string, Recording[], Time | null … */
export function TypeOf({ schema }: { schema: Schema | undefined }) {
    const name = schema && nameOf(schema);
    if (name) {
        return <a href={href('docs', { schema: name })}>{name}</a>;
    }
    if (schema?.anyOf) {
        return (
            <>
                {schema.anyOf.map((one, i) => (
                    <>
                        {i > 0 && ' | '}
                        <TypeOf schema={one} />
                    </>
                ))}
            </>
        );
    }
    if (schema?.prefixItems) {
        return (
            <>
                [
                {schema.prefixItems.map((one, i) => (
                    <>
                        {i > 0 && ', '}
                        <TypeOf schema={one} />
                    </>
                ))}
                ]
            </>
        );
    }
    if (schema?.items) {
        return (
            <>
                <TypeOf schema={schema.items} />
                []
            </>
        );
    }
    return <>{[schema?.type ?? docsText.any].flat().join(' | ')}</>;
}

export function Facts({ schema }: { schema: Schema }) {
    const facts = factsOf(
        schema.items && !nameOf(schema.items) ? { ...schema.items, maxItems: schema.maxItems } : schema,
    );
    return (
        <>
            {facts.map((fact) => (
                <code class="docs-fact">{fact}</code>
            ))}
        </>
    );
}

function Member({ name, schema, required }: { name: string; schema: Schema; required: boolean }) {
    const inner = schema.properties ? schema : schema.items && schema.items.properties ? schema.items : null;
    return (
        <>
            <tr>
                <th scope="row">
                    <code>{name}</code>
                    {!required && <span class="docs-optional">{docsText.optional}</span>}
                </th>
                <td class="mono">
                    <TypeOf schema={schema} />
                </td>
                <td>
                    {schema.description} <Facts schema={schema} />
                </td>
            </tr>
            {inner && (
                <tr>
                    <td colSpan={3}>
                        <Members schema={inner} />
                    </td>
                </tr>
            )}
        </>
    );
}

/** The properties of an object, or the type of anything else. */
export function Members({ schema }: { schema: Schema }) {
    if (!schema.properties) {
        return (
            <p class="mono">
                <TypeOf schema={schema} /> <Facts schema={schema} />
                {schema.pattern && <code class="docs-fact">{schema.pattern}</code>}
            </p>
        );
    }
    return (
        <div class="docs-wide" role="group" aria-label={docsText.members} tabIndex={0}>
            <table class="docs-table">
                <thead>
                    <tr>
                        <th scope="col">{docsText.member}</th>
                        <th scope="col">{docsText.type}</th>
                        <th scope="col">{docsText.description}</th>
                    </tr>
                </thead>
                <tbody>
                    {Object.entries(schema.properties).map(([name, one]) => (
                        <Member
                            key={name}
                            name={name}
                            schema={one}
                            required={schema.required?.includes(name) ?? false}
                        />
                    ))}
                </tbody>
            </table>
        </div>
    );
}
