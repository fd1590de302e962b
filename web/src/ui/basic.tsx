// Basic controls: buttons, fields, badges, empty and error states. Every control has an accessible name.
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { text } from '../text/common';
import { icons, type IconName } from './icons';

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
    return (
        <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
            <path d={icons[name]} />
        </svg>
    );
}

type ButtonProps = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'label'> & {
    kind?: 'plain' | 'main' | 'danger' | 'quiet';
    icon?: IconName;
    label?: string; // accessible name of a button that shows only an icon
    pressed?: boolean;
};
export function Button({
    kind = 'plain',
    icon,
    label,
    pressed,
    children,
    class: more,
    type = 'button',
    ...rest
}: ButtonProps) {
    return (
        <button
            {...rest}
            type={type}
            class={`button ${kind} ${children ? '' : 'bare'} ${more ?? ''}`}
            aria-label={label}
            title={label ?? (rest.title as string)}
            aria-pressed={pressed}
        >
            {icon && <Icon name={icon} />}
            {children}
        </button>
    );
}

type FieldProps = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'label'> & {
    label: string;
    hidden_label?: boolean;
    help?: string;
    error?: string | null;
    multiline?: boolean;
    focused?: boolean; // has the focus when it or its dialog appears, its text selected
};
export function Field({ label, hidden_label, help, error, multiline, focused, class: more, ...rest }: FieldProps) {
    const id = useId();
    const root = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        // before the next key arrives
        if (focused) {
            const field = root.current!.querySelector<HTMLInputElement | HTMLTextAreaElement>('input, textarea')!;
            field.focus();
            field.select();
        }
    }, []);
    const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
    const shared = { id, autofocus: focused, 'aria-describedby': described, 'aria-invalid': error ? true : undefined };
    return (
        <div class={`field ${more ?? ''}`} ref={root}>
            <label for={id} class={hidden_label ? 'visually-hidden' : ''}>
                {label}
            </label>
            {multiline ? (
                <textarea
                    {...(rest as unknown as JSX.TextareaHTMLAttributes<HTMLTextAreaElement>)}
                    {...shared}
                    rows={4}
                />
            ) : (
                <input {...rest} {...shared} />
            )}
            {help && (
                <p class="help" id={`${id}-help`}>
                    {help}
                </p>
            )}
            {error && (
                <p class="error" id={`${id}-error`} role="alert">
                    {error}
                </p>
            )}
        </div>
    );
}

export function Select({
    label,
    hidden_label,
    value,
    options,
    onChange,
}: {
    label: string;
    hidden_label?: boolean;
    value: string;
    options: [value: string, label: string, disabled?: boolean][];
    onChange: (value: string) => void;
}) {
    const id = useId();
    return (
        <div class="field select">
            <label for={id} class={hidden_label ? 'visually-hidden' : ''}>
                {label}
            </label>
            <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
                {options.map(([key, label_, disabled]) => (
                    <option key={key} value={key} disabled={disabled}>
                        {label_}
                    </option>
                ))}
            </select>
        </div>
    );
}

export function Check({
    label,
    checked,
    onChange,
    disabled,
}: {
    label: ComponentChildren;
    checked: boolean;
    onChange: (checked: boolean) => void;
    disabled?: boolean;
}) {
    return (
        <label class="check">
            <input
                type="checkbox"
                checked={checked}
                disabled={disabled}
                onChange={(event) => onChange(event.currentTarget.checked)}
            />
            <span>{label}</span>
        </label>
    );
}

export function Spinner({ label = text.loading }: { label?: string }) {
    return (
        <span class="spinner" role="status">
            <span class="visually-hidden">{label}</span>
        </span>
    );
}

export function Badge({
    kind = '',
    children,
    title,
}: {
    kind?: '' | 'good' | 'warn' | 'bad' | 'accent';
    children: ComponentChildren;
    title?: string;
}) {
    return (
        <span class={`badge ${kind}`} title={title}>
            {children}
        </span>
    );
}

export function Progress({ value, label }: { value: number | null; label: string }) {
    return <progress class="progress" aria-label={label} max={1} value={value ?? undefined} />;
}

export function EmptyState({ title, help, children }: { title: string; help?: string; children?: ComponentChildren }) {
    return (
        <div class="empty">
            <h2>{title}</h2>
            {help && <p>{help}</p>}
            {children && <div class="row">{children}</div>}
        </div>
    );
}

/** A failed request: the error message and a button to retry. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
    return (
        <div class="empty" role="alert">
            <p class="error">{error instanceof Error ? error.message : String(error)}</p>
            {retry && <Button onClick={retry}>{text.retry}</Button>}
        </div>
    );
}
