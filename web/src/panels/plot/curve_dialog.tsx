// How one curve is drawn, and what is done to its values.
import { useState } from 'preact/hooks';
import { text } from '../../text';
import { Button, Check, Dialog, Field, Select } from '../../ui';
import { COLOURS, readCurves, stepText, type Curve } from './curves';

/** The steps as text: 'd *57.3'. Null: it is not one. */
function readSteps(value: string): Curve['steps'] | null {
    const words = value.split(/[\s;|]+/).filter(Boolean);
    const [curve] = readCurves(['x', ...words].join(';'));
    return curve && curve.steps.length === words.length ? curve.steps : null;
}

export function CurveDialog({
    curve,
    onChange,
    onClose,
}: {
    curve: Curve;
    onChange: (curve: Curve) => void;
    onClose: () => void;
}) {
    const [steps, setSteps] = useState(curve.steps.map(stepText).join(' '));
    const read = readSteps(steps);
    const type = (value: string) => {
        setSteps(value);
        const next = readSteps(value);
        if (next) {
            onChange({ ...curve, steps: next });
        }
    };
    return (
        <Dialog
            title={curve.field}
            onClose={onClose}
            actions={
                <Button kind="main" onClick={onClose}>
                    {text.plot.done}
                </Button>
            }
        >
            <div class="plot-picker">
                <Field
                    label={text.plot.steps}
                    value={steps}
                    help={text.plot.stepsHelp}
                    error={read ? null : text.plot.stepsWrong}
                    onInput={(event) => type(event.currentTarget.value)}
                />
                <div class="row">
                    {['d', 'i', '~1', '*57.29578', '+1'].map((one) => (
                        <Button key={one} onClick={() => type(`${steps} ${one}`.trim())}>
                            {text.plot.stepNames[one]}
                        </Button>
                    ))}
                </div>
                <Select
                    label={text.plot.colour}
                    value={String(curve.colour ?? '')}
                    options={[
                        ['', text.plot.ownColour],
                        ...Array.from({ length: COLOURS }, (_, i): [string, string] => [
                            String(i + 1),
                            text.plot.colours[i]!,
                        ]),
                    ]}
                    onChange={(value) => onChange({ ...curve, colour: value === '' ? null : Number(value) })}
                />
                <Check
                    label={text.plot.right}
                    checked={curve.right}
                    onChange={(right) => onChange({ ...curve, right })}
                />
                <Check
                    label={text.plot.hidden}
                    checked={curve.hidden}
                    onChange={(hidden) => onChange({ ...curve, hidden })}
                />
            </div>
        </Dialog>
    );
}
