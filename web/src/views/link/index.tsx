// What is shown to those who opened the page by a signed link: until when it works, and that it has ended.
import { dateTime } from '../../format';
import { service } from '../../service';
import { leaveLink } from '../../shared_link';
import { useStore } from '../../store';
import { text } from '../../text/common';
import { zoneName } from '../../time_zone';
import { Button } from '../../ui';

export function LinkNotice() {
    const expires = useStore(service)?.caller.expires;
    return (
        <span class="link-notice small muted">
            {expires ? text.link.until(`${dateTime(expires, 0)} ${zoneName()}`) : text.link.readOnly}
        </span>
    );
}

export function LinkEnded() {
    return (
        <div class="link-ended card">
            <h1>{text.link.ended}</h1>
            <p class="muted">{text.link.endedHelp}</p>
            <Button onClick={leaveLink}>{text.link.logIn}</Button>
        </div>
    );
}
