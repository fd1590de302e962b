// How one curve is drawn, and what is done to its values.
import { useState } from 'preact/hooks';
import { plotText } from '../../text/panels';
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
                    {plotText.done}
                </Button>
            }
        >
            <div class="plot-picker">
                <Field
                    label={plotText.steps}
                    value={steps}
                    help={plotText.stepsHelp}
                    error={read ? null : plotText.stepsWrong}
                    onInput={(event) => type(event.currentTarget.value)}
                />
                <div class="row">
                    {['d', 'i', '~1', '*57.29578', '+1'].map((one) => (
                        <Button key={one} onClick={() => type(`${steps} ${one}`.trim())}>
                            {plotText.stepNames[one]}
                        </Button>
                    ))}
                </div>
                <Select
                    label={plotText.colour}
                    value={String(curve.colour ?? '')}
                    options={[
                        ['', plotText.ownColour],
                        ...Array.from({ length: COLOURS }, (_, i): [string, string] => [
                            String(i + 1),
                            plotText.colours[i]!,
                        ]),
                    ]}
                    onChange={(value) => onChange({ ...curve, colour: value === '' ? null : Number(value) })}
                />
                <Check
                    label={plotText.right}
                    checked={curve.right}
                    onChange={(right) => onChange({ ...curve, right })}
                />
                <Check
                    label={plotText.hidden}
                    checked={curve.hidden}
                    onChange={(hidden) => onChange({ ...curve, hidden })}
                />
            </div>
        </Dialog>
    );
}
