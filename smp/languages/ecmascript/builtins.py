"""Names that the language, the browser and Node give: a call through them is external, never a project function."""

# ruff: noqa: SIM905 -- one word a name keeps the lists readable

from __future__ import annotations

NODE_MODULES = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events "
    "fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream "
    "string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib".split()
)
"""Modules of Node that may be named without `node:`."""

GLOBALS = frozenset(
    # the language
    "Array ArrayBuffer AggregateError Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError "
    "FinalizationRegistry Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Intl Iterator JSON "
    "Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol "
    "SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet "
    "decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt "
    "undefined unescape "
    # Node and what it shares with browsers
    "AbortController AbortSignal Blob BroadcastChannel Buffer ByteLengthQueuingStrategy CompressionStream "
    "CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DecompressionStream Event EventSource EventTarget File "
    "FormData Headers MessageChannel MessageEvent MessagePort PerformanceEntry PerformanceObserver ReadableStream Request "
    "Response SubtleCrypto TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream URL URLSearchParams "
    "WebAssembly WebSocket WritableStream __dirname __filename atob btoa clearImmediate clearInterval clearTimeout console "
    "crypto exports fetch global module navigator performance process queueMicrotask require setImmediate setInterval "
    "setTimeout structuredClone "
    # browsers
    "Audio CSS CSSStyleSheet DOMMatrix DOMParser DOMPoint DOMRect Document DocumentFragment DragEvent Element File FileList "
    "FileReader FocusEvent FontFace Gamepad HTMLAnchorElement HTMLButtonElement HTMLCanvasElement HTMLDivElement HTMLElement "
    "HTMLFormElement HTMLImageElement HTMLInputElement HTMLSelectElement HTMLTextAreaElement HTMLVideoElement IDBDatabase "
    "Image ImageData InputEvent IntersectionObserver KeyboardEvent MediaRecorder MediaStream MouseEvent MutationObserver Node "
    "NodeFilter NodeList Notification OffscreenCanvas Option Path2D PointerEvent ProgressEvent PopStateEvent RTCPeerConnection "
    "Range ResizeObserver SVGElement Selection ServiceWorker SharedWorker ShadowRoot Storage StorageEvent Text Touch TouchEvent "
    "UIEvent WheelEvent Window Worker XMLHttpRequest XMLSerializer addEventListener alert blur cancelAnimationFrame "
    "cancelIdleCallback caches close confirm customElements dispatchEvent document focus frames getComputedStyle getSelection "
    "history importScripts indexedDB innerHeight innerWidth localStorage location matchMedia open origin parent postMessage "
    "print prompt removeEventListener requestAnimationFrame requestIdleCallback screen scroll scrollBy scrollTo self "
    "sessionStorage stop top window "
    # test runners that put their names in the global scope
    "Cypress afterAll afterEach after assertType before beforeAll beforeEach cy describe expect expectTypeOf fdescribe fit "
    "it jest suite test vi vitest xdescribe xit "
    # module loaders and other runtimes
    "Bun Deno define".split()
)
"""Values every file sees without an import."""

GLOBAL_TYPES = frozenset(
    "Array ArrayLike AsyncGenerator AsyncIterable AsyncIterableIterator AsyncIterator Awaited Capitalize ConstructorParameters "
    "Exclude Extract Generator InstanceType Iterable IterableIterator Iterator JSX Lowercase Map NonNullable NoInfer Omit "
    "OmitThisParameter Parameters Partial Pick Promise PromiseLike PropertyDescriptor PropertyKey ReadonlyArray ReadonlyMap "
    "ReadonlySet Readonly Record Required ReturnType Set ThisParameterType ThisType Uncapitalize Uppercase WeakMap WeakSet "
    "NodeJS React".split()
)
"""Types every file sees without an import, beyond the classes among `GLOBALS`."""
