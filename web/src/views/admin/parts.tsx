// What the sections consist of: what was requested, a list with actions, an action that may ask first, a form.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, getPage, type Params } from '../../api';
import { copyText } from '../../clipboard';
import { dateTime } from '../../format';
import { text } from '../../text/common';
import { adminText } from '../../text/admin';
import { zoneName } from '../../time_zone';
import { showError } from '../../toasts';
import { Button, Check, Confirm, Dialog, Failed, Field, Select, Spinner, type IconName } from '../../ui';
import { useRequest, type RequestState } from '../../use_request';

/** The value of a request once it is there; its error with a button to retry. */
export function Loaded<T>({ of, children }: { of: RequestState<T>; children: (value: T) => ComponentChildren }) {
    if (of.error !== null) {
        return <Failed error={of.error} retry={of.reload} />;
    }
    return <>{of.value === null ? <Spinner /> : children(of.value)}</>;
}

// ---- lists

export interface Rows<Row> {
    items: Row[];
    next?: string | null;
}
export interface List<Row> extends RequestState<Rows<Row>> {
    more: () => void;
}
/** A list of the API, of which more() also loads the next page. */
export function useList<Row>(path: string, params: Params = {}): List<Row> {
    const key = path + JSON.stringify(params);
    const [shown, setShown] = useState({ key, pages: 1 });
    const pages = shown.key === key ? shown.pages : 1;
    const request = useRequest<Rows<Row>>(
        async (signal) => {
            const items: Row[] = [];
            let next: string | null = null;
            for (let n = 0; n < pages && (n === 0 || next); n++) {
                const page: Rows<Row> = await getPage<Row>(path, params, next, signal);
                items.push(...page.items);
                next = page.next ?? null;
            }
            return { items, next };
        },
        [key, pages],
    );
    return { ...request, more: () => setShown({ key, pages: pages + 1 }) };
}

export interface Column<Row> {
    title: string;
    right?: boolean;
    cell: (row: Row) => ComponentChildren;
}
export function Table<Row>({
    caption,
    columns,
    rows,
    empty,
}: {
    caption: string;
    columns: Column<Row>[];
    rows: Row[];
    empty: string;
}) {
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
                                <td key={i} class={c.right ? 'right' : ''} data-title={c.title || undefined}>
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
/** A list as a table, with a button for the next page. */
export function ListTable<Row>({
    of,
    ...table
}: {
    of: List<Row>;
    caption: string;
    columns: Column<Row>[];
    empty: string;
}) {
    return (
        <Loaded of={of}>
            {(value) => (
                <>
                    <Table rows={value.items} {...table} />
                    {value.next && (
                        <div class="row">
                            <Button disabled={of.loading} onClick={of.more}>
                                {adminText.more}
                            </Button>
                        </div>
                    )}
                </>
            )}
        </Loaded>
    );
}

// ---- actions

interface ActionProps {
    label: string;
    icon?: IconName; // then only the icon is shown
    kind?: 'plain' | 'main' | 'danger' | 'quiet';
    disabled?: boolean;
    confirm?: { title: string; help: ComponentChildren; button: string; word?: string };
    run: () => Promise<unknown>;
    done?: () => void;
}
/** A button for a request: it may ask first, is disabled meanwhile, and shows the error. */
export function Action({ label, icon, kind, disabled, confirm, run, done }: ActionProps) {
    const [asking, setAsking] = useState(false);
    const [busy, setBusy] = useState(false);
    const start = () => {
        setBusy(true);
        void run()
            .then(done, showError)
            .finally(() => setBusy(false));
    };
    return (
        <>
            <Button
                kind={kind}
                icon={icon}
                label={icon && label}
                disabled={disabled || busy}
                onClick={() => (confirm ? setAsking(true) : start())}
            >
                {icon ? null : label}
            </Button>
            {asking && <Confirm {...confirm!} onYes={start} onClose={() => setAsking(false)} />}
        </>
    );
}

// ---- forms

export interface FormField {
    name: string;
    label: string;
    help?: string;
    options?: [value: string, label: string][]; // a choice
    check?: boolean; // 'yes' or ''
    multiline?: boolean;
    placeholder?: string;
    choices?: string[]; // values to press, below the field
}
export type Values = Record<string, string>;

/** An error of one field, found before anything is sent. */
export class FieldError extends Error {
    constructor(
        readonly field: string,
        message: string,
    ) {
        super(message);
    }
}
interface Shown {
    field: string | null; // null: it is not about one
    message: string;
}
/** The field of an error is named by the problem, or at the beginning of its text ("rules[2]: max_age is …"). */
function shown(error: unknown, fields: FormField[]): Shown {
    const whole = error instanceof Error ? error.message : String(error);
    const [first] =
        error instanceof ApiError
            ? ((error.problem?.errors ?? []) as { param?: string; member?: string; detail: string }[])
            : [];
    const field =
        error instanceof FieldError
            ? error.field
            : (first?.member ?? first?.param ?? /^(?:\w+\[\d+\]: )?"?(\w+)/.exec(whole)?.[1]);
    return fields.some(({ name }) => name === field)
        ? { field: field!, message: first?.detail ?? whole }
        : { field: null, message: whole };
}

interface FormProps {
    fields: FormField[];
    initial?: Values;
    focused?: boolean; // the first field has the focus
    submit: (values: Values) => Promise<unknown>;
    children: (form: {
        busy: boolean;
        values: Values;
        send: (other?: FormProps['submit']) => void;
        body: ComponentChildren;
    }) => ComponentChildren;
}
/** The state of a form and its fields, each with the server's error beside it. */
export function Form({ fields, initial = {}, focused, submit, children }: FormProps) {
    const [values, setValues] = useState<Values>(() =>
        Object.fromEntries(fields.map(({ name, options }) => [name, initial[name] ?? options?.[0]?.[0] ?? ''])),
    );
    const [error, setError] = useState<Shown | null>(null);
    const [busy, setBusy] = useState(false);
    const send = (act = submit) => {
        setBusy(true);
        setError(null);
        void Promise.resolve(values)
            .then(act) // what it throws is an error of the form, too
            .catch((reason: unknown) => setError(shown(reason, fields)))
            .finally(() => setBusy(false));
    };
    const body = (
        <form class="admin-form" noValidate onSubmit={(event) => (event.preventDefault(), send())}>
            {fields.map(({ name, options, check, choices = [], ...field }, i) => {
                const set = (value: string) => setValues({ ...values, [name]: value });
                return options ? (
                    <Select key={name} label={field.label} value={values[name]!} options={options} onChange={set} />
                ) : check ? (
                    <Check
                        key={name}
                        label={field.label}
                        checked={values[name] === 'yes'}
                        onChange={(on) => set(on ? 'yes' : '')}
                    />
                ) : (
                    <div key={name}>
                        <Field
                            {...field}
                            focused={focused && i === 0}
                            value={values[name]}
                            error={error?.field === name ? error.message : null}
                            autocomplete="off"
                            onInput={(event) => set(event.currentTarget.value)}
                        />
                        {choices.map((choice) => (
                            <button key={choice} type="button" class="link mono small" onClick={() => set(choice)}>
                                {choice}
                            </button>
                        ))}
                    </div>
                );
            })}
            {error && !error.field && (
                <p class="error" role="alert">
                    {error.message}
                </p>
            )}
            <button type="submit" hidden />
        </form>
    );
    return <>{children({ busy, values, send, body })}</>;
}
/** A form in a dialog. submit() closes it if it is done. */
export function FormDialog({
    title,
    button,
    help,
    onClose,
    ...form
}: Omit<FormProps, 'children'> & { title: string; button: string; help?: string; onClose: () => void }) {
    return (
        <Form {...form} focused>
            {({ busy, send, body }) => (
                <Dialog
                    title={title}
                    onClose={onClose}
                    actions={
                        <>
                            <Button onClick={onClose}>{text.cancel}</Button>
                            <Button kind="main" disabled={busy} onClick={() => send()}>
                                {button}
                            </Button>
                        </>
                    }
                >
                    {help && <p>{help}</p>}
                    {body}
                </Dialog>
            )}
        </Form>
    );
}
/** A secret or a link that was just created. */
export function SecretDialog({
    title,
    help,
    secret,
    onClose,
}: {
    title: string;
    help: string;
    secret: string;
    onClose: () => void;
}) {
    return (
        <Dialog
            title={title}
            onClose={onClose}
            actions={
                <>
                    <Button icon="copy" onClick={() => void copyText(secret)}>
                        {adminText.copy}
                    </Button>
                    <Button kind="main" onClick={onClose}>
                        {text.close}
                    </Button>
                </>
            }
        >
            <p>{help}</p>
            <p class="admin-secret mono" tabIndex={0}>
                {secret}
            </p>
        </Dialog>
    );
}
/** A time with its zone. */
export const moment = (time: string): string => `${dateTime(time)} ${zoneName()}`;
/** The title of a column of times. */
export const inZone = (title: string): string => text.zone.in(title, zoneName());
/** "a, b c" as a list. */
export const words = (value: string | undefined): string[] => (value ?? '').split(/[\s,]+/).filter(Boolean);
