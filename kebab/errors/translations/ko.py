"""The Korean messages and hints; commands, settings and values are not translated."""

from kebab.errors import catalog as rows
from kebab.errors.signal import Signal, Wording

ROWS: dict[type[Signal], Wording] = {
    rows.ConfigInvalid: Wording(
        "설정이 올바르지 않습니다: {path}: {cause}",
        "파일을 고치거나, 사본을 남기고 새로 만드세요: `kebab init --force`",
    ),
    rows.UsageInvalid: Wording("명령을 이해할 수 없습니다: {cause}", "kebab --help"),
    rows.InvalidInput: Wording("`{field}` 값이 올바르지 않습니다: {cause}"),
    rows.InvalidCursor: Wording(
        "커서가 올바르지 않습니다: {cause}", "`--cursor` 없이 다시 검색하세요"
    ),
    rows.StaleCursor: Wording(
        "커서가 발급된 뒤 색인이 바뀌었습니다: "
        "발급 당시 리비전 {issued_revision}, 현재 {current_revision}",
        "`--cursor` 없이 다시 검색하세요",
    ),
    rows.NotIndexed: Wording("사용할 수 있는 색인이 없습니다: {data_dir}", "kebab ingest FOLDER"),
    rows.ModelUnreachable: Wording(
        "모델 서버에 연결할 수 없습니다: {endpoint}: {cause}",
        "서버 없이 계속하세요: `{fallback}`",
    ),
    rows.ModelNotPulled: Wording("Ollama에 없는 모델입니다: {model}", "ollama pull {model}"),
    rows.ModelRejected: Wording(
        "모델 서버가 {model} 모델을 거부했습니다: {cause}",
        "다른 모델을 지정하세요: `{other}`",
    ),
    rows.ModelBusy: Wording(
        "모델 서버가 다른 요청을 처리하고 있습니다: {endpoint}", "잠시 후 다시 시도하세요"
    ),
    rows.ModelProtocol: Wording(
        "{endpoint}에서 예상하지 못한 응답을 받았습니다: {cause}", "kebab doctor"
    ),
    rows.ContextOverflow: Wording(
        "프롬프트가 모델의 컨텍스트 창({context_tokens}토큰)보다 깁니다: {prompt_tokens}",
        "`models.llm.context_tokens = {context_tokens}`보다 큰 창에는 더 많이 들어갑니다. "
        "모델 없이 계속하려면: `{fallback}`",
    ),
    rows.EmbeddingUnavailable: Wording(
        "임베딩 모델을 가져올 수 없습니다: {model}: {cause}", "kebab model pull {model}"
    ),
    rows.EmbeddingMismatch: Wording(
        "색인을 만든 모델과 설정된 모델이 다릅니다: 색인 {found}, 설정 {expected}",
        "kebab model use auto",
    ),
    rows.TimedOut: Wording("{operation} 작업이 제한 시간을 넘겼습니다: {deadline_ms}ms"),
    rows.IoError: Wording("파일 시스템 작업({op})에 실패했습니다: {path}: {cause}", "kebab doctor"),
    rows.Locked: Wording(
        "다른 프로세스가 이 지식 베이스에 쓰고 있습니다: pid {holder_pid}",
        "그 프로세스가 끝난 뒤 다시 시도하세요",
    ),
    rows.ReadOnly: Wording(
        "`--read-only`에서는 할 수 없는 작업입니다: {operation}",
        "`--read-only` 없이 다시 실행하세요",
    ),
    rows.StoreCorrupt: Wording("저장소가 손상되었습니다: {path}: {cause}", "kebab doctor"),
    rows.UnsupportedMedia: Wording(
        "이 파일을 읽을 파서가 없습니다: {path}: {media}", "kebab ingest --explain {path}"
    ),
    rows.ParseFailed: Wording("파일을 해석할 수 없습니다: {path}: {cause}"),
    rows.TooLarge: Wording("너무 큽니다: {what}: {size}바이트, 한도 {limit}"),
    rows.Unauthorized: Wording(
        "서버의 토큰이 없거나 올바르지 않습니다", "헤더로 보내세요: `Authorization: Bearer TOKEN`"
    ),
    rows.ClientConfigInvalid: Wording(
        "{client}의 설정 파일을 변경할 수 없습니다: {path}: {cause}",
        "kebab install {client} --print",
    ),
    rows.ServerBusy: Wording(
        "이 서버를 기다리는 요청이 너무 많습니다: {waiting}", "동시에 보내는 요청을 줄이세요"
    ),
    rows.DependencyMissing: Wording(
        "이 기능에 필요한 라이브러리를 불러올 수 없습니다: {feature}", "{install}"
    ),
    rows.ConfirmationRequired: Wording(
        "확인이 필요한 명령입니다: `{operation}`", "kebab {operation} --yes"
    ),
    rows.OutOfMemory: Wording(
        "메모리가 부족합니다: {operation}", "다른 프로그램을 닫고 다시 실행하세요"
    ),
    rows.Cancelled: Wording("중단되었습니다: {operation}"),
    rows.Generic: Wording("예상하지 못한 문제가 생겼습니다", "kebab doctor"),
}

_CONFIG = "설정이 올바르지 않습니다: {path}: {cause}"
_FILE = "파일 시스템 작업({op})에 실패했습니다: {path}: {cause}"
_OTHER_SCHEMA = (
    "사용할 수 있는 색인이 없습니다: {data_dir}: "
    "색인의 스키마는 {found}, 이 빌드가 읽는 스키마는 {expected}"
)

CASES: dict[type[Signal], dict[str, Wording]] = {
    rows.StaleCursor: {
        "document": Wording(
            "검토를 시작한 뒤 문서가 바뀌었습니다: {path}", "다시 검토하세요: `kebab review {path}`"
        ),
    },
    rows.UnsupportedMedia: {
        "setting": Wording(
            "`{setting}` 설정이 꺼져 있어 이미지를 읽지 않습니다: {path}", "export {variable}=true"
        ),
    },
    rows.ParseFailed: {
        "setting": Wording("파일을 해석할 수 없습니다: {path}: {cause}", "export {variable}=true"),
    },
    rows.ConfigInvalid: {
        "missing": Wording(_CONFIG, "kebab init"),
        "folder": Wording(_CONFIG, "mkdir -p {folder}"),
        "variable": Wording(_CONFIG, "unset {variable}"),
        "setting": Wording(_CONFIG, "kebab doctor"),
        "special": Wording(_CONFIG),
    },
    rows.TimedOut: {
        "setting": Wording(
            "{operation} 작업이 `{setting}`의 제한 시간을 넘겼습니다: {deadline_ms}ms",
            "export {variable}={seconds}",
        ),
        "document": Wording(
            "{path} 파일을 읽는 작업이 `{setting}`의 제한 시간을 넘겼습니다: {deadline_ms}ms",
            "export {variable}={seconds}",
        ),
        "first_token": Wording(
            "{endpoint} 모델 서버가 `{setting}` 안에 첫 토큰을 보내지 않았습니다: {deadline_ms}ms",
            "export {variable}={seconds}",
        ),
        "next_token": Wording(
            "{endpoint} 모델 서버가 `{setting}` 안에 다음 토큰을 보내지 않았습니다: "
            "{deadline_ms}ms",
            "export {variable}={seconds}",
        ),
        "answer": Wording(
            "{endpoint} 모델 서버의 답이 `{setting}`의 제한 시간을 넘겼습니다: {deadline_ms}ms",
            "export {variable}={seconds}",
        ),
        "server": Wording(
            "{endpoint} 모델 서버가 너무 느립니다, 작업 {operation}: {deadline_ms}ms"
        ),
    },
    rows.ModelUnreachable: {
        "ollama": Wording(
            "Ollama에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
            "`ollama serve`로 서버를 시작하거나 서버 없이 계속하세요: `{fallback}`",
        ),
        "address": Wording(
            "모델 서버에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
            "서버를 시작하거나 다른 주소를 지정하세요: `export {variable}=URL`",
        ),
        "proxy": Wording(
            "`{setting}`의 프록시를 거쳐 모델 서버에 연결할 수 없습니다: {endpoint}: {cause}",
            '프록시를 거치지 않게 하세요: `export NO_PROXY="$NO_PROXY,"{host}`',
        ),
        "issuer": Wording(
            "모델 서버에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
            "PEM 파일의 발급자를 신뢰하게 하세요: `export SSL_CERT_FILE=FILE`",
        ),
        "certificate": Wording(
            "모델 서버에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
            "인증서를 갱신하거나 다른 주소를 지정하세요: `export {variable}=URL`",
        ),
        "silent": Wording(
            "모델 서버에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
            "서버가 다른 요청을 마친 뒤 다시 시도하거나 다른 주소를 지정하세요: "
            "`export {variable}=URL`",
        ),
        "server": Wording(
            "모델 서버에서 완전한 답을 받지 못했습니다: {endpoint}: {cause}",
            "다시 시도하거나 서버 없이 계속하세요: `{fallback}`",
        ),
        "needed": Wording(
            "모델 서버에 연결할 수 없습니다: {endpoint}: {cause}",
            "서버가 실행되면 다시 시도하세요",
        ),
    },
    rows.ContextOverflow: {
        "needed": Wording(
            "프롬프트가 모델의 컨텍스트 창({context_tokens}토큰)보다 깁니다: {prompt_tokens}",
            "`models.llm.context_tokens = {context_tokens}`보다 큰 창에는 더 많이 들어갑니다",
        ),
    },
    rows.ModelBusy: {
        "loading": Wording(
            "모델 서버가 아직 모델을 읽어 들이고 있습니다: {endpoint}", "잠시 후 다시 시도하세요"
        ),
    },
    rows.ModelRejected: {
        "key_missing": Wording(
            "{endpoint} 모델 서버에는 키가 필요한데 `{setting}`에 값이 없습니다: {cause}",
            "export {variable}=KEY",
        ),
        "key_refused": Wording(
            "{endpoint} 모델 서버가 `{setting}`의 키를 거부했습니다: {cause}",
            "export {variable}=KEY",
        ),
        "sign_in": Wording(
            "{model} 모델을 쓰려면 Ollama 계정이 필요합니다: {cause}", "ollama signin"
        ),
        "option": Wording(
            "모델 서버가 {model} 모델에 쓸 수 없는 설정을 거부했습니다: `{setting}`: {cause}",
            "export {variable}={value}",
        ),
        "memory": Wording(
            "모델 서버의 메모리가 {model} 모델에 부족합니다: {cause}",
            "더 작은 모델을 지정하세요: `{other}`",
        ),
        "load": Wording(
            "모델 서버가 {model} 모델을 읽어 들이지 못합니다: {cause}",
            "다른 모델을 지정하세요: `{other}`",
        ),
        "unknown_model": Wording(
            "{endpoint} 모델 서버가 {model} 모델을 제공하지 않습니다: {cause}",
            "서버에 있는 모델을 지정하세요: `export KEBAB_MODELS_LLM_MODEL={near}`",
        ),
    },
    rows.ModelProtocol: {
        "address": Wording(
            "{endpoint} (`{setting}`)에서 예상하지 못한 응답을 받았습니다: {cause}",
            "모델 서버의 주소를 지정하세요: `export {variable}=URL`",
        ),
    },
    rows.ReadOnly: {
        "needs": Wording(
            "서버가 허용하지 않는 작업입니다: {operation}", "`{needs}`로 서버를 다시 시작하세요"
        )
    },
    rows.DependencyMissing: {
        "program": Wording("이 작업에 쓸 프로그램이 없습니다: {feature}", "{install}"),
        "broken": Wording(
            "이 기능에 필요한 라이브러리를 불러올 수 없습니다: {feature}: {cause}", "{install}"
        ),
    },
    rows.IoError: {
        "missing": Wording(_FILE),
        "emptied": Wording(_FILE, "kebab source list"),
        "denied_read": Wording(_FILE, "chmod u+rX {path}"),
        "denied_write": Wording(_FILE, "chmod u+rwX {folder}"),
    },
    rows.OutOfMemory: {
        "limited": Wording(
            "메모리가 부족합니다. 이 프로세스의 한도는 {limit_bytes}바이트입니다: {operation}",
            "셸의 한도를 높이세요: `ulimit -v unlimited`",
        ),
    },
    rows.NotIndexed: {
        "older": Wording(_OTHER_SCHEMA, "kebab ingest"),
        "newer": Wording(_OTHER_SCHEMA, "pip install --upgrade kebab"),
        "file": Wording(
            "{file} 파일을 읽을 수 없습니다: 스키마 {found}, 이 빌드가 읽는 스키마 {expected}",
            "pip install --upgrade kebab",
        ),
    },
    rows.Locked: {
        "unnamed": Wording(
            "다른 프로세스가 이 지식 베이스에 쓰고 있습니다",
            "그 프로세스가 끝난 뒤 다시 시도하세요",
        ),
    },
}
