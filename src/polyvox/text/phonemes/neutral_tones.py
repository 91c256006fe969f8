"""Words whose last syllable is light, where pypinyin gives it its full tone."""

from typing import Final

_LIGHT: Final = frozenset(
    (
        "爱人 巴掌 白净 帮手 棒槌 包袱 本事 比方 扁担 别扭 薄荷 簸箕 补丁 部分 财主 裁缝 苍蝇 差事 柴火 称呼 出息 "
        "畜生 窗户 伺候 刺猬 凑合 耷拉 答应 打扮 打发 打量 打算 打听 大方 大夫 耽搁 耽误 道士 灯笼 提防 嘀咕 地方 "
        "弟兄 点心 东家 东西 动静 动弹 豆腐 嘟囔 队伍 对付 哆嗦 耳朵 风筝 福气 富余 甘蔗 高粱 膏药 告诉 疙瘩 胳膊 "
        "工夫 功夫 姑娘 故事 寡妇 怪物 关系 官司 棺材 规矩 闺女 哈欠 含糊 蛤蟆 行当 合同 和尚 核桃 红火 厚道 狐狸 "
        "胡琴 葫芦 糊涂 护士 皇上 活泼 火候 伙计 机灵 记号 记性 家伙 架势 嫁妆 见识 将就 交情 叫唤 姐夫 戒指 "
        "芥末 考究 咳嗽 客气 口袋 窟窿 快活 阔气 拉扯 喇叭 喇嘛 老婆 老实 老爷 姥爷 累赘 篱笆 力气 厉害 利落 利索 "
        "痢疾 连累 凉快 粮食 铃铛 溜达 啰唆 啰嗦 骆驼 麻烦 麻利 马虎 买卖 忙活 冒失 眉毛 媒人 门道 迷糊 苗条 名堂 "
        "名字 明白 模糊 蘑菇 木匠 脑袋 能耐 念叨 娘家 奴才 女婿 疟疾 牌楼 盘算 朋友 脾气 屁股 漂亮 婆家 铺盖 欺负 "
        "亲戚 勤快 清楚 亲家 热闹 认识 扫帚 商量 上司 烧饼 少爷 生意 牲口 师父 师傅 石匠 石榴 时辰 时候 拾掇 使唤 "
        "事情 收成 收拾 首饰 舒服 舒坦 疏忽 爽快 思量 俗气 算计 岁数 特务 挑剔 跳蚤 铁匠 妥当 唾沫 挖苦 外甥 晚上 "
        "早上 尾巴 委屈 稳当 窝囊 稀罕 媳妇 喜欢 下巴 吓唬 先生 乡下 底下 相声 消息 小气 笑话 歇息 心思 行李 休息 "
        "秀才 秀气 学生 学问 衙门 哑巴 胭脂 眼睛 秧歌 养活 吆喝 妖精 衣服 衣裳 意思 应酬 冤家 冤枉 月饼 月亮 云彩 "
        "运气 在乎 扎实 栅栏 张罗 丈夫 丈人 帐篷 招呼 招牌 折腾 芝麻 知识 指甲 主意 转悠 庄稼 壮实 状元 祖宗 嘴巴 "
        "琢磨 报酬 抽屉 得罪 枇杷 琵琶 邋遢 唠叨 闹腾 晃荡 数落 惦记 吩咐 嘱咐 大爷"
    ).split()
)
# What somebody does for a while, and names for people and animals: the second of two same syllables is light.
_DOUBLED: Final = frozenset(
    "看想试说走听问聊谈尝瞧逛坐玩歇找猜读写算查摸练帮管讲用闻挑翻洗擦跑跳唱画星娃宝猩公婆姥伯嫂婶蝈蛐"
)
_SIDES: Final = frozenset("这边 那边 里边 外边 上边 下边 前边 后边 左边 右边".split())
# These begin words of another meaning: 地方性, 东西部, 打算盘, 小气候.
_NO_BEGINNINGS: Final = (
    frozenset("地方 东西 大方 小气 打算 动静 爱人 点心 红火 亲家 老婆 老爷 数落 特务 学生 心思".split()) | _SIDES
)
_FULL: Final = frozenset(
    "贻笑大方 见笑大方 天圆地方 各奔东西 横贯东西 外婆家 大学生 中学生 小学生 留学生 中小学生 沾不上边".split()
)


def light_places(word: str) -> list[int]:
    """The places of the light syllables of a token: of the word that it is, ends in, or begins with."""
    if len(word) < 2 or word in _FULL:
        return []
    if _is_light(word[-2:]):
        return [len(word) - 1]
    return [1] if len(word) > 2 and word[:2] in _LIGHT and word[:2] not in _NO_BEGINNINGS else []


def _is_light(pair: str) -> bool:
    return pair in _LIGHT or pair in _SIDES or (pair[0] == pair[1] and pair[0] in _DOUBLED)
