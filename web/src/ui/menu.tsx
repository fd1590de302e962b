// A button that opens a menu of actions. Keys: arrows, Home, End, Escape.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { text } from '../text';
import { Button, Icon } from './basic';
import type { IconName } from './icons';

export interface MenuItem {
    label: string;
    icon?: IconName;
    danger?: boolean;
    disabled?: boolean;
    checked?: boolean;
    run: () => void;
}

export function Menu({
    label = text.menu,
    icon = 'more',
    items,
    children,
    kind = 'quiet',
}: {
    label?: string;
    icon?: IconName;
    items: MenuItem[];
    children?: ComponentChildren;
    kind?: 'plain' | 'quiet';
}) {
    const [open, setOpen] = useState(false);
    const root = useRef<HTMLDivElement>(null);
    const list = useRef<HTMLDivElement>(null);
    const id = useId();
    const close = (back: boolean) => {
        setOpen(false);
        if (back) {
            root.current?.querySelector<HTMLElement>('button')?.focus();
        }
    };
    useEffect(() => {
        if (!open) {
            return;
        }
        list.current?.querySelector<HTMLElement>('[role^=menuitem]:not([disabled])')?.focus();
        const outside = (event: Event) => !root.current?.contains(event.target as Node) && close(false);
        document.addEventListener('pointerdown', outside);
        return () => document.removeEventListener('pointerdown', outside);
    }, [open]);
    const move = (event: KeyboardEvent) => {
        const all = [...list.current!.querySelectorAll<HTMLElement>('[role^=menuitem]:not([disabled])')];
        const at = all.indexOf(document.activeElement as HTMLElement);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
        if (event.key === 'Escape' || event.key === 'Tab') {
            close(event.key === 'Escape');
            event.stopPropagation();
        } else if (to !== undefined) {
            all[to % all.length]?.focus();
            event.preventDefault();
        }
    };
    return (
        <div class="menu" ref={root}>
            <Button
                kind={kind}
                icon={icon}
                label={children ? undefined : label}
                aria-haspopup="menu"
                aria-expanded={open}
                aria-controls={open ? id : undefined}
                onClick={() => setOpen(!open)}
            >
                {children}
            </Button>
            {open && (
                <div class="menu-list" id={id} role="menu" aria-label={label} ref={list} onKeyDown={move}>
                    {items.map((item) => (
                        <button
                            key={item.label}
                            type="button"
                            role={item.checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
                            aria-checked={item.checked}
                            tabIndex={-1}
                            class={item.danger ? 'danger' : ''}
                            disabled={item.disabled}
                            onClick={() => (close(true), item.run())}
                        >
                            {item.icon ? <Icon name={item.icon} /> : <span class="icon">{item.checked && <Icon name="check" />}</span>}
                            {item.label}
                        </button>
                    ))}
                </div>
            )}
        </div>
    );
}
