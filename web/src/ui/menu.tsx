// A button that opens a menu of actions. Keys: arrows, Home, End, Escape.
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { text } from '../text/common';
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

const MARGIN = 8; // px between a menu and the edges of the window
const GAP = 2; // px between a menu and its button

/** Places the open list below its button, or above it if there is more room, and inside the window in any case. */
function usePlacement(open: boolean, root: { current: HTMLElement | null }, list: { current: HTMLElement | null }) {
    useLayoutEffect(() => {
        if (!open) {
            return undefined;
        }
        const place = (event?: Event) => {
            if (event?.target === list.current) {
                return; // the list itself was scrolled
            }
            const [button, menu] = [root.current!.getBoundingClientRect(), list.current!];
            const { clientWidth: width, clientHeight: height } = document.documentElement;
            const [above, below] = [button.top - GAP - MARGIN, height - button.bottom - GAP - MARGIN];
            menu.style.maxHeight = '';
            const up = menu.offsetHeight > below && above > below;
            menu.style.maxHeight = `${Math.max(up ? above : below, 0)}px`;
            const left =
                button.left + menu.offsetWidth <= width - MARGIN ? button.left : button.right - menu.offsetWidth;
            menu.style.left = `${Math.max(MARGIN, Math.min(left, width - MARGIN - menu.offsetWidth))}px`;
            const top = up ? button.top - GAP - menu.offsetHeight : button.bottom + GAP;
            menu.style.top = `${Math.max(MARGIN, Math.min(top, height - MARGIN - menu.offsetHeight))}px`;
        };
        list.current!.showPopover?.(); // the top layer: not clipped by the panel or the table around the button
        place();
        addEventListener('resize', place);
        document.addEventListener('scroll', place, true);
        return () => {
            removeEventListener('resize', place);
            document.removeEventListener('scroll', place, true);
        };
    }, [open]);
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
    usePlacement(open, root, list);
    const marked = items.some((item) => item.icon || item.checked !== undefined);
    useLayoutEffect(() => {
        if (!open) {
            return;
        }
        // Escape closes it even if no item can be chosen
        (list.current?.querySelector<HTMLElement>('[role^=menuitem]:not([disabled])') ?? list.current)?.focus();
        const outside = (event: Event) => !root.current?.contains(event.target as Node) && close(false);
        const escape = (event: KeyboardEvent) => event.key === 'Escape' && (event.stopPropagation(), close(true));
        document.addEventListener('pointerdown', outside);
        document.addEventListener('keydown', escape, true); // the focused item may have become disabled
        return () => {
            document.removeEventListener('pointerdown', outside);
            document.removeEventListener('keydown', escape, true);
        };
    }, [open]);
    const move = (event: KeyboardEvent) => {
        const all = [...list.current!.querySelectorAll<HTMLElement>('[role^=menuitem]:not([disabled])')];
        const at = all.indexOf(document.activeElement as HTMLElement);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
        if (event.key === 'Tab') {
            close(false);
            event.stopPropagation();
        } else if (to !== undefined && all.length > 0) {
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
                <div
                    class="menu-list"
                    popover="manual"
                    id={id}
                    role="menu"
                    tabIndex={-1}
                    aria-label={label}
                    ref={list}
                    onKeyDown={move}
                >
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
                            {item.icon ? (
                                <Icon name={item.icon} />
                            ) : (
                                marked && <span class="icon">{item.checked && <Icon name="check" />}</span>
                            )}
                            {item.label}
                        </button>
                    ))}
                </div>
            )}
        </div>
    );
}
