// What the scene shows: its topics in groups, the frames, the grid. Points can be coloured by a field.
import { useEffect, useRef, useState } from 'preact/hooks';
import { sceneText } from '../../text/panels';
import { Button, Check, Field, Select } from '../../ui';
import { gradientOf, isMap, MAP_NAMES } from '../colour_maps';
import { hiddenOf, hiddenText } from '../hidden';
import { DEFAULT_LOOK, type Look, type PointFacts } from './points';
import { looksOf, looksText } from './look_settings';
import type { SceneTopic, Span } from './source';
import { spanOf, spanText } from './span';

interface Props {
    topics: SceneTopic[];
    hasFrames: boolean;
    spans: readonly Span[]; // that are offered, the default first
    settings: Record<string, string>;
    onSettings: (changes: Record<string, string | null>) => void;
}

/** A checkbox for several ones: checked if all are, and neither if only some are. */
function GroupCheck({
    label,
    checked,
    all,
    onChange,
}: {
    label: string;
    checked: number;
    all: number;
    onChange: (checked: boolean) => void;
}) {
    const root = useRef<HTMLSpanElement>(null);
    useEffect(() => {
        root.current!.querySelector('input')!.indeterminate = checked > 0 && checked < all;
    });
    return (
        <span ref={root} class="scene-group">
            <Check label={label} checked={checked === all} onChange={onChange} />
        </span>
    );
}

function NumberField({
    label,
    value,
    placeholder,
    onChange,
}: {
    label: string;
    value: number | null;
    placeholder: string;
    onChange: (value: number | null) => void;
}) {
    const change = (typed: string) => {
        const number = typed.trim() === '' ? null : Number(typed);
        if (number === null || Number.isFinite(number)) {
            onChange(number);
        }
    };
    return (
        <Field
            label={label}
            type="number"
            step="any"
            value={value ?? ''}
            placeholder={placeholder}
            onChange={(event) => change(event.currentTarget.value)}
        />
    );
}

const shown = (value: number | undefined): string =>
    value === undefined ? sceneText.auto : String(Number(value.toPrecision(4)));

function LookForm({ facts, look, onChange }: { facts: PointFacts; look: Look; onChange: (look: Look) => void }) {
    const change = (part: Partial<Look>) => onChange({ ...look, ...part });
    const fields = facts.fields.map((field): [string, string] => [field, field]);
    const values = facts.range !== null;
    return (
        <div class="scene-look">
            <Select
                label={sceneText.colourBy}
                value={look.field ?? facts.field ?? ''}
                options={[['', sceneText.oneColour], ...fields]}
                onChange={(field) => change({ field, low: null, high: null })}
            />
            {values && (
                <>
                    <Select
                        label={sceneText.colourMap}
                        value={look.map}
                        options={MAP_NAMES.map((name) => [name, sceneText.maps[name]])}
                        onChange={(map) => isMap(map) && change({ map })}
                    />
                    <div class="scene-gradient" style={{ background: gradientOf(look.map) }} />
                    <NumberField
                        label={sceneText.least}
                        value={look.low}
                        placeholder={shown(facts.range?.[0])}
                        onChange={(low) => change({ low })}
                    />
                    <NumberField
                        label={sceneText.most}
                        value={look.high}
                        placeholder={shown(facts.range?.[1])}
                        onChange={(high) => change({ high })}
                    />
                </>
            )}
            <Field
                label={sceneText.pointSize}
                type="range"
                min={1}
                max={12}
                value={look.size}
                onInput={(event) => change({ size: Number(event.currentTarget.value) })}
            />
        </div>
    );
}

/** The spans by their length, and the one of the address. */
function spanOptions(spans: readonly Span[], chosen: string): [string, string][] {
    const texts = [...new Set([...spans.map(spanText), chosen])];
    const length = (text: string) => (text === 'all' ? Infinity : Number(text));
    return texts.sort((a, b) => length(a) - length(b)).map((text) => [text, sceneText.spans(text)]);
}

export function Layers({ topics, hasFrames, spans, settings, onSettings }: Props) {
    const [open, setOpen] = useState<string | null>(null); // whose look is edited
    const span = spanText(spanOf(settings.span, spans));
    const hidden = hiddenOf(settings.hide);
    const looks = looksOf(settings.points);
    const hide = (names: string[], to: boolean) => {
        names.forEach((name) => (to ? hidden.add(name) : hidden.delete(name)));
        onSettings({ hide: hiddenText(hidden) });
    };
    const groups = new Map<string, SceneTopic[]>();
    topics.forEach((topic) => groups.set(topic.group, [...(groups.get(topic.group) ?? []), topic]));
    return (
        <div class="scene-layers" role="group" aria-label={sceneText.layers}>
            {[...groups].map(([group, members]) => (
                <fieldset key={group}>
                    <legend class="visually-hidden">{group}</legend>
                    <GroupCheck
                        label={group}
                        checked={members.filter((m) => !hidden.has(m.name)).length}
                        all={members.length}
                        onChange={(on) =>
                            hide(
                                members.map((m) => m.name),
                                !on,
                            )
                        }
                    />
                    {members.map((topic) => (
                        <div key={topic.name} class="scene-layer">
                            <div class="scene-layer-line" title={topic.type}>
                                <Check
                                    label={<span class={topic.type ? 'mono' : ''}>{topic.title}</span>}
                                    checked={!hidden.has(topic.name)}
                                    onChange={(on) => hide([topic.name], !on)}
                                />
                                {topic.points && (
                                    <Button
                                        kind="quiet"
                                        icon="settings"
                                        label={sceneText.lookOf(topic.title)}
                                        pressed={open === topic.name}
                                        onClick={() => setOpen(open === topic.name ? null : topic.name)}
                                    />
                                )}
                            </div>
                            {topic.points && open === topic.name && (
                                <LookForm
                                    facts={topic.points}
                                    look={looks.get(topic.name) ?? DEFAULT_LOOK}
                                    onChange={(look) => onSettings({ points: looksText(looks.set(topic.name, look)) })}
                                />
                            )}
                        </div>
                    ))}
                </fieldset>
            ))}
            <fieldset>
                <legend class="scene-group">{sceneText.view}</legend>
                {spans.length > 0 && (
                    <Select
                        label={sceneText.past}
                        value={span}
                        options={spanOptions(spans, span)}
                        onChange={(to) => onSettings({ span: to === spanText(spans[0]!) ? null : to })}
                    />
                )}
                <Check
                    label={sceneText.grid}
                    checked={settings.grid !== '0'}
                    onChange={(on) => onSettings({ grid: on ? null : '0' })}
                />
                {hasFrames && (
                    <Check
                        label={sceneText.axes}
                        checked={settings.axes !== undefined}
                        onChange={(on) => onSettings({ axes: on ? '1' : null })}
                    />
                )}
                {hasFrames && (
                    <Check
                        label={sceneText.axesNames}
                        checked={settings.axes === 'names'}
                        disabled={settings.axes === undefined}
                        onChange={(on) => onSettings({ axes: on ? 'names' : '1' })}
                    />
                )}
            </fieldset>
        </div>
    );
}
