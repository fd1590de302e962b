// The OpenAPI document as the API view reads it.
export interface Reference {
    $ref: string;
}
export interface Schema {
    $ref?: string;
    type?: string | string[];
    description?: string;
    enum?: unknown[];
    const?: unknown;
    default?: unknown;
    pattern?: string;
    minimum?: number;
    maximum?: number;
    maxLength?: number;
    maxItems?: number;
    examples?: unknown[];
    required?: string[];
    properties?: Record<string, Schema>;
    additionalProperties?: boolean | Schema;
    items?: Schema | false;
    prefixItems?: Schema[];
    anyOf?: Schema[];
}
export interface Media {
    schema?: Schema;
    example?: unknown;
}
export interface Header {
    description?: string;
    schema?: Schema;
}
export interface Parameter {
    name: string;
    in: 'query' | 'path' | 'header';
    required?: boolean;
    description?: string;
    schema: Schema;
    example?: unknown;
}
export interface ApiResponse {
    description: string;
    headers?: Record<string, Header | Reference>;
    content?: Record<string, Media>;
}
export interface RequestBody {
    content: Record<string, Media>;
    required?: boolean;
}
export interface Operation {
    operationId: string;
    tags: string[];
    summary: string;
    description?: string;
    'x-role': string;
    parameters?: (Parameter | Reference)[];
    requestBody?: RequestBody | Reference;
    responses: Record<string, ApiResponse | Reference>;
}
type PathItem = { parameters?: (Parameter | Reference)[] } & { [method in Method]?: Operation };
export interface Contract {
    info: { title: string; version: string; summary: string; description: string };
    tags: { name: string; description: string }[];
    paths: Record<string, PathItem>;
    components: { schemas: Record<string, Schema> };
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;
type Method = (typeof METHODS)[number];

export interface Entry {
    method: string;
    path: string;
    operation: Operation;
    parameters: (Parameter | Reference)[];
}

export function entriesOf(contract: Contract): Entry[] {
    return Object.entries(contract.paths).flatMap(([path, item]) =>
        METHODS.filter((method) => item[method]).map((method) => {
            const operation = item[method]!;
            return {
                method: method.toUpperCase(),
                path,
                operation,
                parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])],
            };
        }),
    );
}

/** Follows $ref. */
export function resolve<T extends object>(contract: Contract, node: T | Reference): T {
    let at: unknown = node;
    while (typeof at === 'object' && at !== null && '$ref' in at) {
        at = (at as Reference).$ref
            .slice(2)
            .split('/')
            .reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], contract);
    }
    return at as T;
}

/** 'Recording' of '#/components/schemas/Recording'. */
export function nameOf(schema: Schema): string | null {
    return schema.$ref?.split('/').pop() ?? null;
}

/** Limits, allowed values and default of a schema. */
export function factsOf(schema: Schema): string[] {
    const { minimum, maximum } = schema;
    return [
        schema.enum && schema.enum.map(String).join(' | '),
        schema.const !== undefined && JSON.stringify(schema.const),
        minimum !== undefined && (maximum === undefined ? `≥ ${minimum}` : `${minimum} … ${maximum}`),
        schema.maxItems !== undefined && `≤ ${schema.maxItems}×`,
        schema.maxLength !== undefined && `≤ ${schema.maxLength} B`,
        schema.default !== undefined && `= ${JSON.stringify(schema.default)}`,
    ].filter((fact): fact is string => typeof fact === 'string');
}

export function exampleText(example: unknown): string {
    return typeof example === 'string' ? example : JSON.stringify(example, null, 2);
}
