"""The Simplified Chinese messages and hints; commands, settings and values are not translated."""
# ruff: noqa: RUF001 - Chinese has punctuation of its own

from kebab.errors import catalog as rows
from kebab.errors.signal import Signal, Wording

ROWS: dict[type[Signal], Wording] = {
    rows.ConfigInvalid: Wording(
        "配置无效：{path}：{cause}", "请更正文件，或保留副本并重新生成：`kebab init --force`"
    ),
    rows.UsageInvalid: Wording("无法理解该命令：{cause}", "kebab --help"),
    rows.InvalidInput: Wording("`{field}` 无效：{cause}"),
    rows.InvalidCursor: Wording("游标无效：{cause}", "去掉 `--cursor` 重新搜索"),
    rows.StaleCursor: Wording(
        "签发游标之后索引已有变动：当时修订号 {issued_revision}，现为 {current_revision}",
        "去掉 `--cursor` 重新搜索",
    ),
    rows.NotIndexed: Wording("没有可用的索引：{data_dir}", "kebab ingest FOLDER"),
    rows.ModelUnreachable: Wording(
        "无法连接模型服务器：{endpoint}：{cause}",
        "请不用服务器继续：`{fallback}`",
    ),
    rows.ModelNotPulled: Wording("Ollama 没有该模型：{model}", "ollama pull {model}"),
    rows.ModelRejected: Wording("模型服务器拒绝了 {model}：{cause}", "换用其他模型：`{other}`"),
    rows.ModelBusy: Wording("模型服务器繁忙：{endpoint}", "请稍后重试"),
    rows.ModelProtocol: Wording("收到 {endpoint} 的意外响应：{cause}", "kebab doctor"),
    rows.ContextOverflow: Wording(
        "提示词超出模型的上下文窗口（{context_tokens} 个 token）：{prompt_tokens}",
        "比 `models.llm.context_tokens = {context_tokens}` 更大的窗口可容纳更多内容；"
        "不用模型继续：`{fallback}`",
    ),
    rows.EmbeddingUnavailable: Wording(
        "无法获取嵌入模型 {model}：{cause}", "kebab model pull {model}"
    ),
    rows.EmbeddingMismatch: Wording(
        "建立索引的模型与配置的模型不同：索引为 {found}，配置为 {expected}",
        "kebab model use auto",
    ),
    rows.TimedOut: Wording("{operation} 超过了时限：{deadline_ms} 毫秒"),
    rows.IoError: Wording("文件系统操作（{op}）失败：{path}：{cause}", "kebab doctor"),
    rows.Locked: Wording("另一个进程正在写入此知识库：pid {holder_pid}", "等它结束后再试"),
    rows.ReadOnly: Wording(
        "`--read-only` 下不允许此操作：{operation}", "去掉 `--read-only` 后重试"
    ),
    rows.StoreCorrupt: Wording("存储已损坏：{path}：{cause}", "kebab doctor"),
    rows.UnsupportedMedia: Wording(
        "没有解析器能读取此文件：{path}：{media}", "kebab ingest --explain {path}"
    ),
    rows.ParseFailed: Wording("无法解析文件：{path}：{cause}"),
    rows.TooLarge: Wording("过大：{what}：{size} 字节，上限 {limit}"),
    rows.Unauthorized: Wording(
        "服务器的令牌缺失或有误", "请放在请求头中发送：`Authorization: Bearer TOKEN`"
    ),
    rows.ClientConfigInvalid: Wording(
        "无法更改 {client} 的设置：{path}：{cause}", "kebab install {client} --print"
    ),
    rows.ServerBusy: Wording("等待此服务器的请求过多：{waiting}", "请减少同时发送的请求"),
    rows.DependencyMissing: Wording("无法加载此功能所需的库：{feature}", "{install}"),
    rows.ConfirmationRequired: Wording("`{operation}` 需要确认", "kebab {operation} --yes"),
    rows.OutOfMemory: Wording("内存不足：{operation}", "请关闭其他程序后重试"),
    rows.Cancelled: Wording("已中断：{operation}"),
    rows.Generic: Wording("发生了意料之外的问题", "kebab doctor"),
}

_CONFIG = "配置无效：{path}：{cause}"
_FILE = "文件系统操作（{op}）失败：{path}：{cause}"
_OTHER_SCHEMA = "没有可用的索引：{data_dir}：索引的结构版本为 {found}，本版本可读取 {expected}"

CASES: dict[type[Signal], dict[str, Wording]] = {
    rows.StaleCursor: {
        "document": Wording(
            "审阅开始之后文档已有变动：{path}", "请重新审阅：`kebab review {path}`"
        ),
    },
    rows.UnsupportedMedia: {
        "setting": Wording("`{setting}` 已关闭，因此不读取图片：{path}", "export {variable}=true"),
    },
    rows.ParseFailed: {
        "setting": Wording("无法解析文件：{path}：{cause}", "export {variable}=true"),
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
            "{operation} 超过了 `{setting}` 的时限：{deadline_ms} 毫秒",
            "export {variable}={seconds}",
        ),
        "document": Wording(
            "读取 {path} 超过了 `{setting}` 的时限：{deadline_ms} 毫秒",
            "export {variable}={seconds}",
        ),
        "first_token": Wording(
            "模型服务器 {endpoint} 在 `{setting}` 内没有返回首个 token：{deadline_ms} 毫秒",
            "export {variable}={seconds}",
        ),
        "next_token": Wording(
            "模型服务器 {endpoint} 在 `{setting}` 内没有返回下一个 token：{deadline_ms} 毫秒",
            "export {variable}={seconds}",
        ),
        "answer": Wording(
            "模型服务器 {endpoint} 的回答超过了 `{setting}` 的时限：{deadline_ms} 毫秒",
            "export {variable}={seconds}",
        ),
        "server": Wording("模型服务器 {endpoint} 太慢，操作 {operation}：{deadline_ms} 毫秒"),
    },
    rows.ModelUnreachable: {
        "ollama": Wording(
            "无法连接 Ollama：{endpoint}（`{setting}`）：{cause}",
            "请用 `ollama serve` 启动服务器，或不用服务器继续：`{fallback}`",
        ),
        "address": Wording(
            "无法连接模型服务器：{endpoint}（`{setting}`）：{cause}",
            "请启动服务器，或设置其他地址：`export {variable}=URL`",
        ),
        "proxy": Wording(
            "无法通过 `{setting}` 的代理连接模型服务器：{endpoint}：{cause}",
            '请绕过代理：`export NO_PROXY="$NO_PROXY,"{host}`',
        ),
        "issuer": Wording(
            "无法连接模型服务器：{endpoint}（`{setting}`）：{cause}",
            "请信任 PEM 文件中的颁发者：`export SSL_CERT_FILE=FILE`",
        ),
        "certificate": Wording(
            "无法连接模型服务器：{endpoint}（`{setting}`）：{cause}",
            "请更新证书，或设置其他地址：`export {variable}=URL`",
        ),
        "silent": Wording(
            "无法连接模型服务器：{endpoint}（`{setting}`）：{cause}",
            "请在服务器空闲后重试，或设置其他地址：`export {variable}=URL`",
        ),
        "server": Wording(
            "没有收到模型服务器 {endpoint} 的完整回答：{cause}",
            "请重试，或不用服务器继续：`{fallback}`",
        ),
        "needed": Wording(
            "无法连接模型服务器：{endpoint}：{cause}",
            "请在服务器运行后重试",
        ),
    },
    rows.ContextOverflow: {
        "needed": Wording(
            "提示词超出模型的上下文窗口（{context_tokens} 个 token）：{prompt_tokens}",
            "比 `models.llm.context_tokens = {context_tokens}` 更大的窗口可容纳更多内容",
        ),
    },
    rows.ModelBusy: {
        "loading": Wording("模型服务器仍在加载模型：{endpoint}", "请稍后重试"),
    },
    rows.ModelRejected: {
        "key_missing": Wording(
            "模型服务器 {endpoint} 需要密钥，而 `{setting}` 没有设置：{cause}",
            "export {variable}=KEY",
        ),
        "key_refused": Wording(
            "模型服务器 {endpoint} 拒绝了 `{setting}` 中的密钥：{cause}", "export {variable}=KEY"
        ),
        "sign_in": Wording("Ollama 需要账号才能使用 {model}：{cause}", "ollama signin"),
        "option": Wording(
            "模型服务器拒绝了 {model} 的 `{setting}` 设置：{cause}", "export {variable}={value}"
        ),
        "memory": Wording(
            "模型服务器的内存不足以运行 {model}：{cause}",
            "换用更小的模型：`{other}`",
        ),
        "load": Wording("模型服务器无法加载 {model}：{cause}", "换用其他模型：`{other}`"),
        "unknown_model": Wording(
            "模型服务器 {endpoint} 不提供 {model}：{cause}",
            "换用服务器上的模型：`export KEBAB_MODELS_LLM_MODEL={near}`",
        ),
    },
    rows.ModelProtocol: {
        "address": Wording(
            "收到 {endpoint}（`{setting}`）的意外响应：{cause}",
            "请设置模型服务器的地址：`export {variable}=URL`",
        ),
    },
    rows.ReadOnly: {
        "needs": Wording("服务器不允许此操作：{operation}", "请用 `{needs}` 重新启动服务器")
    },
    rows.DependencyMissing: {
        "program": Wording("没有可用于此操作的程序：{feature}", "{install}"),
        "broken": Wording("无法加载此功能所需的库：{feature}：{cause}", "{install}"),
    },
    rows.IoError: {
        "missing": Wording(_FILE),
        "emptied": Wording(_FILE, "kebab source list"),
        "denied_read": Wording(_FILE, "chmod u+rX {path}"),
        "denied_write": Wording(_FILE, "chmod u+rwX {folder}"),
    },
    rows.OutOfMemory: {
        "limited": Wording(
            "内存不足，此进程的上限为 {limit_bytes} 字节：{operation}",
            "请提高 shell 的上限：`ulimit -v unlimited`",
        ),
    },
    rows.NotIndexed: {
        "older": Wording(_OTHER_SCHEMA, "kebab ingest"),
        "newer": Wording(_OTHER_SCHEMA, "pip install --upgrade kebab"),
        "file": Wording(
            "无法读取 {file}：其结构版本为 {found}，本版本可读取 {expected}",
            "pip install --upgrade kebab",
        ),
    },
    rows.Locked: {"unnamed": Wording("另一个进程正在写入此知识库", "等它结束后再试")},
}
