// The dialog that adds a curve calculated from a curve and a second field.
import { useId, useState } from 'preact/hooks';
import { text } from '../../text/common';
import { plotText } from '../../text/panels';
import { Button, Dialog, Field, Select, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { curveName, curveOf, OPERATIONS, type Curve, type Operation } from './curves';
import { useFields } from './picker';

const MAX_SUGGESTED = 500;

type Props = PanelProps & { curves: Curve[]; first: Curve; onAdd: (curve: Curve) => void; onClose: () => void };

export function FormulaDialog(props: Props) {
    const { curves, first, onAdd, onClose } = props;
    const { found, loading } = useFields(props);
    const list = useId();
    const [a, setA] = useState(Math.max(0, curves.indexOf(first)));
    const [operation, setOperation] = useState<Operation>('-');
    const [field, setField] = useState(curves.find((one) => one.field !== first.field)?.field ?? '');
    const numeric = found.filter((one) => one.numeric).map((one) => one.path);
    const known = numeric.includes(field) || curves.some((one) => one.field === field);
    const base = curves[a] ?? first;
    const added: Curve = {
        ...curveOf(base.field),
        steps: [...base.steps, { kind: 'with', operation, field }],
        right: base.right,
    };
    return (
        <Dialog
            title={plotText.combineTitle}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Button kind="main" disabled={!known} onClick={() => (onAdd(added), onClose())}>
                        {plotText.addCurve}
                    </Button>
                </>
            }
        >
            <div class="plot-picker">
                <Select
                    label={plotText.first}
                    value={String(a)}
                    options={curves.map((curve, i): [string, string] => [String(i), curveName(curve)])}
                    onChange={(value) => setA(Number(value))}
                />
                <Select
                    label={plotText.operation}
                    value={operation}
                    options={OPERATIONS.map((one): [string, string] => [one, plotText.operations[one]!])}
                    onChange={(value) => setOperation(value as Operation)}
                />
                <Field
                    label={plotText.second}
                    value={field}
                    list={list}
                    autocomplete="off"
                    help={plotText.combineHelp}
                    error={known || loading || field === '' ? null : plotText.unknownField}
                    onInput={(event) => setField(event.currentTarget.value)}
                />
                <datalist id={list}>
                    {[...new Set([...curves.map((curve) => curve.field), ...numeric])]
                        .slice(0, MAX_SUGGESTED)
                        .map((path) => (
                            <option key={path} value={path} />
                        ))}
                </datalist>
                {loading && <Spinner />}
                {known && <p class="mono plot-formula">{curveName(added)}</p>}
            </div>
        </Dialog>
    );
}
