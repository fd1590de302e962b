// One operation: parameters, responses, and a curl command.
import { docsText } from '../../text/docs';
import { Badge, Button } from '../../ui';
import { copyText } from '../../clipboard';
import {
    exampleText,
    nameOf,
    resolve,
    type ApiResponse,
    type Contract,
    type Entry,
    type Header,
    type Media,
    type Parameter,
    type RequestBody,
} from './contract';
import { Facts, Members, TypeOf } from './schema';

const variable = (name: string) => '$' + name.toUpperCase().replaceAll('-', '_');

/** Required query parameters, and headers that are required or have a fixed value. */
function requiredOf(contract: Contract, entry: Entry): { query: string; headers: string } {
    const all = entry.parameters.map((p) => resolve<Parameter>(contract, p));
    const query = all.filter((p) => p.in === 'query' && p.required).map((p) => `${p.name}=${variable(p.name)}`);
    const headers = all
        .filter((p) => p.in === 'header' && (p.required || p.schema.const !== undefined))
        .map((p) => ` -H "${p.name}: ${p.schema.const ?? variable(p.name)}"`);
    return { query: query.length > 0 ? '?' + query.join('&') : '', headers: headers.join('') };
}

function requestBodyOf(contract: Contract, { operation }: Entry): RequestBody | undefined {
    return operation.requestBody && resolve<RequestBody>(contract, operation.requestBody);
}

function curlBodyOf(contract: Contract, entry: Entry): string {
    const [media, first] = Object.entries(requestBodyOf(contract, entry)?.content ?? {})[0] ?? [];
    if (!media) {
        return '';
    }
    const type =
        media === 'application/json' || media === 'application/octet-stream' ? '' : ` -H "Content-Type: ${media}"`;
    return media.includes('json') ? `${type} -d '${JSON.stringify(first?.example ?? {})}'` : `${type} -T FILE`;
}

/** A curl command with shell variables such as $ID for values to be filled in. */
function curlOf(contract: Contract, entry: Entry): string {
    const { method, path, operation } = entry;
    const { query, headers } = requiredOf(contract, entry);
    const address = document.baseURI + path.slice(1).replace(/\{(\w+)\}/g, (_, name: string) => variable(name)) + query;
    const body = curlBodyOf(contract, entry);
    const isDefault =
        method === 'GET' || (method === 'POST' && body.includes(' -d ')) || (method === 'PUT' && body.includes(' -T '));
    const option = isDefault ? '' : method === 'HEAD' ? ' -I' : ` -X ${method}`;
    const token = operation['x-role'] === 'none' ? '' : ' -H "Authorization: Bearer $TOKEN"';
    return `curl${option}${token}${headers}${body} "${address}"`;
}

function Curl({ contract, entry }: { contract: Contract; entry: Entry }) {
    const line = curlOf(contract, entry);
    return (
        <div class="docs-curl">
            <pre tabIndex={0}>{line}</pre>
            <Button kind="quiet" onClick={() => void copyText(line)}>
                {docsText.copy}
            </Button>
        </div>
    );
}

function Parameters({
    contract,
    entry,
    section,
    title,
}: {
    contract: Contract;
    entry: Entry;
    section: Parameter['in'];
    title: string;
}) {
    const all = entry.parameters.map((p) => resolve<Parameter>(contract, p)).filter((p) => p.in === section);
    if (all.length === 0) {
        return null;
    }
    return (
        <section>
            <h2>{title}</h2>
            <div class="docs-wide" role="group" aria-label={title} tabIndex={0}>
                <table class="docs-table">
                    <thead>
                        <tr>
                            <th scope="col">{docsText.name}</th>
                            <th scope="col">{docsText.type}</th>
                            <th scope="col">{docsText.description}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {all.map((p) => (
                            <tr key={p.name}>
                                <th scope="row">
                                    <code>{p.name}</code>
                                    {p.required && section !== 'path' && (
                                        <span class="docs-required">{docsText.required}</span>
                                    )}
                                </th>
                                <td class="mono">
                                    <TypeOf schema={p.schema} />
                                </td>
                                <td>
                                    {p.description} <Facts schema={p.schema} />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </section>
    );
}

function MediaTypes({ content }: { content: Record<string, Media> }) {
    const examples = Object.entries(content).filter(([, media]) => media.example !== undefined);
    return (
        <>
            <ul class="docs-media">
                {Object.entries(content).map(([name, media]) => (
                    <li key={name} class="mono">
                        {name} {media.schema && <TypeOf schema={media.schema} />}
                    </li>
                ))}
            </ul>
            {examples.map(([name, media]) => (
                <pre key={name} class="docs-example" tabIndex={0} aria-label={docsText.example(name)}>
                    {exampleText(media.example)}
                </pre>
            ))}
        </>
    );
}

function ResponseOf({ contract, status, response }: { contract: Contract; status: string; response: ApiResponse }) {
    const headers = Object.entries(response.headers ?? {});
    const problem = Number(status) >= 400;
    return (
        <div class="docs-response">
            <Badge kind={problem ? 'bad' : Number(status) < 300 ? 'good' : ''}>{status}</Badge>
            <div class="grow">
                <p>{response.description}</p>
                {headers.length > 0 && (
                    <dl>
                        {headers.map(([name, header]) => (
                            <>
                                <dt class="mono">{name}</dt>
                                <dd>{resolve<Header>(contract, header).description}</dd>
                            </>
                        ))}
                    </dl>
                )}
                {!problem && response.content && <MediaTypes content={response.content} />}
            </div>
        </div>
    );
}

export function OperationOf({ contract, entry }: { contract: Contract; entry: Entry }) {
    const { operation } = entry;
    const body = requestBodyOf(contract, entry);
    const inline =
        body &&
        Object.values(body.content).find((media) => media.schema && !nameOf(media.schema) && media.schema.properties)
            ?.schema;
    return (
        <article class="docs-operation">
            <h1>{operation.summary}</h1>
            <p class="docs-line">
                <code class={`docs-method ${entry.method}`}>{entry.method}</code>{' '}
                <code class="docs-path">{entry.path}</code> <Badge>{docsText.role(operation['x-role'])}</Badge>
            </p>
            {operation.description && <p>{operation.description}</p>}
            <Curl contract={contract} entry={entry} />
            <Parameters contract={contract} entry={entry} section="path" title={docsText.inPath} />
            <Parameters contract={contract} entry={entry} section="query" title={docsText.inQuery} />
            <Parameters contract={contract} entry={entry} section="header" title={docsText.inHeaders} />
            {body && (
                <section>
                    <h2>{docsText.body}</h2>
                    <MediaTypes content={body.content} />
                    {inline && <Members schema={inline} />}
                </section>
            )}
            <section>
                <h2>{docsText.responses}</h2>
                {Object.entries(operation.responses)
                    .sort(([a], [b]) => Number(a) - Number(b))
                    .map(([status, response]) => (
                        <ResponseOf
                            key={status}
                            contract={contract}
                            status={status}
                            response={resolve<ApiResponse>(contract, response)}
                        />
                    ))}
            </section>
        </article>
    );
}
