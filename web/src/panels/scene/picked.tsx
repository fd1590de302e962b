// What was clicked at: its topic, its values at the playhead, and what can be done with it.
import { sceneText } from '../../text/panels';
import { Button } from '../../ui';
import type { Described } from './source';

interface Props {
    described: Described;
    onFollow: ((target: string) => void) | null;
    onMessages: (topic: string) => void;
    onClose: () => void;
}

export function Picked({ described: { title, topic, values, follow }, onFollow, onMessages, onClose }: Props) {
    return (
        <section class="scene-picked" aria-label={sceneText.picked}>
            <div class="row">
                <strong class="grow">{title}</strong>
                <Button kind="quiet" icon="close" label={sceneText.pickedClose} onClick={onClose} />
            </div>
            <dl>{values.flatMap(([name, value]) => [<dt key={name}>{name}</dt>, <dd class="mono">{value}</dd>])}</dl>
            <div class="row">
                {follow !== null && onFollow && (
                    <Button onClick={() => onFollow(follow)}>{sceneText.pickedFollow}</Button>
                )}
                {topic !== null && <Button onClick={() => onMessages(topic)}>{sceneText.pickedMessages}</Button>}
            </div>
        </section>
    );
}
