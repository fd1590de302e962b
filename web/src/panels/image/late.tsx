// The sign that the picture is older than the playhead, and the choice to wait for pictures.
import { useEffect, useState } from 'preact/hooks';
import { usePlayback, usePlaybackPart, type Playback } from '../../playback';
import { duration } from '../../format';
import { imageText } from '../../text/panels';
import { Button } from '../../ui';

const SIGN_MS = 500; // a picture that is late for less is not worth a sign

function Sign({ playback, behind }: { playback: Playback; behind: () => number }) {
    const { waits } = usePlayback(playback, 250);
    return (
        <p class="image-late small" role="status">
            {waits ? imageText.waiting : imageText.behind(duration(behind()))}{' '}
            <Button onClick={() => playback.setWaits(!waits)}>{waits ? imageText.dontWait : imageText.wait}</Button>
        </p>
    );
}

/** `behind`: ns. */
export function Late({ playback, behind }: { playback: Playback; behind: () => number }) {
    const late = usePlaybackPart(playback, (state) => state.late && state.playing);
    const [shown, setShown] = useState(false);
    useEffect(() => {
        const timer = setTimeout(() => setShown(late), SIGN_MS); // it goes as slowly as it comes
        return () => clearTimeout(timer);
    }, [late]);
    return shown ? <Sign playback={playback} behind={behind} /> : null;
}
