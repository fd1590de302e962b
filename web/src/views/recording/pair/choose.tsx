// The dialog that chooses the recording to show beside the one that is open.
import { useState } from 'preact/hooks';
import { getPage } from '../../../api';
import { duration } from '../../../format';
import { calendarText } from '../../../recording_time';
import { pairText } from '../../../text/recording';
import type { Recording } from '../../../types';
import { useRequest } from '../../../use_request';
import { Dialog, Failed, Field, Spinner } from '../../../ui';
import { quoted } from '../../library/query';

const SHOWN = 30;

export function ChooseSecond({
    recording,
    onChoose,
    onClose,
}: {
    recording: Recording;
    onChoose: (other: Recording) => void;
    onClose: () => void;
}) {
    const [typed, setTyped] = useState('');
    const found = useRequest(
        (signal) =>
            getPage<Recording>(
                '/recordings',
                { q: typed.trim() || `collection:${quoted(recording.collection)}`, limit: SHOWN, sort: '-start' },
                null,
                signal,
            ),
        [typed],
    );
    const others = (found.value?.items ?? []).filter((one) => one.id !== recording.id && one.messages > 0);
    return (
        <Dialog title={pairText.choose} onClose={onClose}>
            <Field
                focused
                type="search"
                label={pairText.search}
                value={typed}
                help={typed.trim() ? undefined : pairText.ofCollection(recording.collection)}
                onInput={(event) => setTyped(event.currentTarget.value)}
            />
            {found.error !== null && <Failed error={found.error} />}
            {found.loading && !found.value && <Spinner />}
            <ul class="pair-list" aria-label={pairText.results} aria-busy={found.loading}>
                {others.map((one) => (
                    <li key={one.id}>
                        <button type="button" onClick={() => onChoose(one)}>
                            <span>{one.name}</span>
                            <span class="muted small">
                                {[
                                    one.collection,
                                    one.start_ns && calendarText(one, BigInt(one.start_ns), 0),
                                    duration(one.duration_ns),
                                ]
                                    .filter(Boolean)
                                    .join(' · ')}
                            </span>
                        </button>
                    </li>
                ))}
            </ul>
            {found.value && others.length === 0 && <p class="muted">{pairText.none}</p>}
        </Dialog>
    );
}
