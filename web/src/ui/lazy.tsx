// Lazily loaded components, and an error boundary.
import { Component, createElement, type Attributes, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { text } from '../text/common';
import { Button, EmptyState, Failed, Spinner } from './basic';

/** A component whose script is loaded when it is first shown. */
export function lazy<Props extends object = object>(
    load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
    return function Lazy(props: Props) {
        const [view, setView] = useState<{ default: ComponentType<Props> } | null>(null);
        const [error, setError] = useState<unknown>(null);
        const start = () => {
            setError(null);
            load().then(setView, setError);
        };
        useEffect(start, []);
        if (view) {
            return createElement(view.default, props as Props & Attributes);
        }
        return <div class="empty">{error ? <Failed error={error} retry={start} /> : <Spinner />}</div>;
    };
}

/** Contains the errors of a view or panel, so that the rest of the page keeps working. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
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
            <EmptyState title={text.crashed.title} help={text.crashed.help}>
                <code>{String(this.state.error)}</code>
                <Button kind="main" onClick={() => location.reload()}>
                    {text.crashed.reload}
                </Button>
            </EmptyState>
        );
    }
}
