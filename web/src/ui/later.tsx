// Parts that come later, and parts that may break.
import { Component, createElement, type Attributes, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { text } from '../text';
import { Button, EmptyState, Failed, Spinner } from './basic';

/** A view or panel whose script comes when it is first asked for. */
export function later<Props extends object = object>(load: () => Promise<{ default: ComponentType<Props> }>): ComponentType<Props> {
    return function Later(props: Props) {
        const [view, setView] = useState<{ default: ComponentType<Props> } | null>(null);
        const [error, setError] = useState<unknown>(null);
        const ask = () => {
            setError(null);
            load().then(setView, setError);
        };
        useEffect(ask, []);
        if (view) {
            return createElement(view.default, props as Props & Attributes);
        }
        return <div class="empty">{error ? <Failed error={error} retry={ask} /> : <Spinner />}</div>;
    };
}

/** Around parts that must not take the rest with them when they break: views, panels. */
export class Guard extends Component<{ children: ComponentChildren }, { error: unknown }> {
    override state = { error: null as unknown };
    override componentDidCatch(error: unknown) {
        console.error(error);
        this.setState({ error });
    }
    override render() {
        if (this.state.error === null) {
            return this.props.children;
        }
        return (
            <EmptyState title={text.broken.title} help={text.broken.help}>
                <code>{String(this.state.error)}</code>
                <Button kind="main" onClick={() => location.reload()}>
                    {text.broken.reload}
                </Button>
            </EmptyState>
        );
    }
}
