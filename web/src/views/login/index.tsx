// The login form, shown instead of the view after a 401. The URL does not change, so the view appears after login.
import { useRef, useState } from 'preact/hooks';
import { ApiError, logIn, session } from '../../api';
import { useStore } from '../../store';
import { text } from '../../text/common';
import { Button, Field, Spinner } from '../../ui';

export function LogIn() {
    const form = useRef<HTMLFormElement>(null);
    const [busy, setBusy] = useState(false);
    const [error, setError] = useState<string | null>(session.get().loggedIn ? text.login.ended : null);
    const submit = async (event: Event) => {
        event.preventDefault();
        const token = String(new FormData(form.current!).get('token')).trim();
        if (!token) {
            return;
        }
        setBusy(true);
        try {
            await logIn(token);
        } catch (failed) {
            setError(
                failed instanceof ApiError && failed.status === 401 ? text.login.invalid : (failed as Error).message,
            );
            setBusy(false);
        }
    };
    return (
        <form class="login card" ref={form} onSubmit={(event) => void submit(event)}>
            <h1>{text.login.title}</h1>
            <p class="muted">{useStore(session).notice ?? text.login.help}</p>
            <Field
                label={text.login.token}
                name="token"
                type="password"
                required
                autocomplete="current-password"
                focused
                error={error}
            />
            <div class="row">
                <Button kind="main" type="submit" disabled={busy}>
                    {text.login.button}
                </Button>
                {busy && <Spinner label={text.login.checking} />}
            </div>
        </form>
    );
}
