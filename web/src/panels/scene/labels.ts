// Texts in the scene.
import * as THREE from 'three';

const FONT_PX = 44;
const MARGIN_PX = 8;
const WIDTH_MAX_PX = 1024;
const RIM_PX = 7;

/** A text as a sprite of the given height in metres; with a rim it is read on any background. */
export function label(text: string, colour: string, height: number, rim?: string): THREE.Sprite {
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('2d')!;
    const font = `${FONT_PX}px sans-serif`;
    context.font = font;
    canvas.width = Math.min(WIDTH_MAX_PX, Math.ceil(context.measureText(text).width) + 2 * MARGIN_PX);
    canvas.height = FONT_PX + 2 * MARGIN_PX;
    context.font = font; // a change of size resets it
    if (rim) {
        context.lineWidth = RIM_PX;
        context.lineJoin = 'round';
        context.strokeStyle = rim;
        context.strokeText(text, MARGIN_PX, FONT_PX);
    }
    context.fillStyle = colour;
    context.fillText(text, MARGIN_PX, FONT_PX);
    const map = new THREE.CanvasTexture(canvas);
    map.colorSpace = THREE.SRGBColorSpace;
    const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthTest: false }));
    sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
    return sprite;
}

const SCREEN_PX = 18;

/** A text that has the same size on the screen at any distance. */
export function screenLabel(text: string, colour: string): THREE.Sprite {
    const sprite = label(text, colour, 1);
    const aspect = sprite.scale.x;
    const [at, from] = [new THREE.Vector3(), new THREE.Vector3()];
    sprite.center.set(0, 0);
    sprite.onBeforeRender = (renderer, _scene, camera) => {
        const height = renderer.domElement.clientHeight || 1;
        const distance = at
            .setFromMatrixPosition(sprite.matrixWorld)
            .distanceTo(from.setFromMatrixPosition(camera.matrixWorld));
        const metres =
            camera instanceof THREE.PerspectiveCamera
                ? 2 * distance * Math.tan((camera.fov * Math.PI) / 360)
                : camera instanceof THREE.OrthographicCamera
                  ? (camera.top - camera.bottom) / camera.zoom
                  : 1;
        const size = (metres / height) * SCREEN_PX;
        sprite.scale.set(size * aspect, size, 1);
        sprite.updateMatrixWorld();
    };
    return sprite;
}
